// Runs the client against the server at THRIFTPACK_ADDR; `make test-clients` starts one.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import grpc from "@grpc/grpc-js";
import { Client, credentials } from "./client.mjs";
import { crc32c } from "./crc32c.mjs";

const address = process.env.THRIFTPACK_ADDR;
assert.ok(address, "THRIFTPACK_ADDR names no server; run make test-clients");

let client;
before(async () => {
  client = new Client(address);
  await client.ready(30_000);
});
after(() => client.close());

// One value of each kind. The bytes were written down by hand from the specification of the compact protocol.
const uuid = Buffer.from("00112233445566778899aabbccddeeff", "hex");
const rows = [
  ["bool", { bool: true }, "11 00"],
  ["bool false", { bool: false }, "12 00"],
  ["i8", { i8: -128 }, "13 80 00"],
  ["i16", { i16: -32768 }, "14 ff ff 03 00"],
  ["i32", { i32: -2147483648 }, "15 ff ff ff ff 0f 00"],
  ["i64", { i64: "-9223372036854775808" }, "16 ff ff ff ff ff ff ff ff ff 01 00"],
  ["i64 above 2^53", { i64: "9007199254740993" }, "16 82 80 80 80 80 80 80 20 00"],
  ["double", { double: 1.5 }, "17 00 00 00 00 00 00 f8 3f 00"],
  ["binary", { binary: Buffer.from([0, 255]) }, "18 02 00 ff 00"],
  ["list", { list: { i32s: [1, -1, 300] } }, "19 35 02 01 d8 04 00"],
  ["list of bool", { list: { bools: [true, false] } }, "19 21 01 02 00"],
  ["list of i8", { list: { i8s: Buffer.from([1, 255]) } }, "19 23 01 ff 00"],
  ["empty list", { list: { element_type: "TYPE_I32" } }, "19 05 00"],
  ["set", { set: { binaries: [Buffer.from("a")] } }, "1a 18 01 61 00"],
  ["map", { map: { keys: { binaries: [Buffer.from("a")] }, values: { i32s: [1] } } }, "1b 01 85 01 61 02 00"],
  ["struct", { struct: { fields: [{ id: 1, bool: true }] } }, "1c 11 00 00"],
  ["uuid", { uuid }, "1d 00 11 22 33 44 55 66 77 88 99 aa bb cc dd ee ff 00"],
];

for (const [name, kind, hex] of rows) {
  test(`encodes and decodes ${name}`, async () => {
    const data = await client.encode({ struct: { fields: [{ id: 1, ...kind }] } });
    assert.equal(data.toString("hex"), hex.replaceAll(" ", ""));
    const decoded = await client.decode(data);
    assert.equal(decoded.struct.fields.length, 1);
    assert.equal(decoded.struct.fields[0].id, 1);
    // Encoding what was decoded gives the bytes back: the client kept every member.
    assert.deepEqual(await client.encode(decoded), data);
    const member = Object.keys(kind)[0];
    assert.equal(decoded.struct.fields[0].kind, member);
    if (typeof kind[member] !== "object") {
      assert.equal(String(decoded.struct.fields[0][member]), String(kind[member]));
    }
  });
}

test("writes text, and reads it back as text when asked to", async () => {
  const data = await client.encode({ struct: { fields: [{ id: 1, string: "é😀" }] } });
  assert.equal(data.toString("hex"), "1806c3a9f09f988000");
  const decoded = await client.decode(data, { detect_text: true });
  assert.equal(decoded.struct.fields[0].string, "é😀");
});

test("takes 48 structs inside each other both ways", async () => {
  let struct = { fields: [{ id: 1, i32: 7 }] };
  for (let depth = 2; depth <= 48; depth++) {
    struct = { fields: [{ id: 1, struct }] };
  }
  const data = await client.encode({ struct });
  assert.equal(data.toString("hex"), "1c".repeat(47) + "150e" + "00".repeat(48));
  let inner = (await client.decode(data)).struct;
  for (let depth = 2; depth <= 48; depth++) {
    inner = inner.fields[0].struct;
  }
  assert.equal(inner.fields[0].i32, 7);
});

test("streams what the unary call returns", async () => {
  const value = { struct: { fields: [{ id: 1, list: { i64s: Array.from({ length: 200_000 }, (_, i) => i * i) } }] } };
  const unary = await client.encode(value);
  for (const chunkSize of [0, 4096, 1048576]) {
    const chunks = await client.encodeStream(value, chunkSize);
    assert.ok(Buffer.concat(chunks).equals(unary), `chunk size ${chunkSize}: other bytes than the unary reply`);
    if (chunkSize === 4096) {
      assert.ok(chunks.length > 100, `${chunks.length} chunks of 4096 bytes for ${unary.length} bytes`);
    }
  }
});

test("names the place of a value that is out of range", async () => {
  await assert.rejects(client.encode({ struct: { fields: [{ id: 1, i16: 40000 }] } }), (error) => {
    assert.equal(error.code, grpc.status.INVALID_ARGUMENT);
    assert.match(error.details, /value\.struct\.fields\[0\]\.i16/);
    assert.match(error.details, /40000/);
    return true;
  });
});

test("names the offset where bytes are cut short", async () => {
  await assert.rejects(client.decode(Buffer.from("1502", "hex")), (error) => {
    assert.equal(error.code, grpc.status.INVALID_ARGUMENT);
    assert.match(error.details, /offset 2/);
    return true;
  });
});

const mutual = Boolean(process.env.THRIFTPACK_CERT);
test("is refused without a certificate where one is asked for", { skip: !mutual && "the server asks for none" }, async () => {
  const { THRIFTPACK_CA } = process.env;
  const stranger = new Client(address, credentials({ THRIFTPACK_CA }));
  await assert.rejects(stranger.encode({ bool: true }), { code: grpc.status.UNAVAILABLE });
  stranger.close();
});

test("knows the check value of CRC-32C", () => {
  assert.equal(crc32c(Buffer.from("123456789")), 0xe3069283);
});
