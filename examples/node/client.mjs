// A client of thriftpack in Node: it encodes a value, decodes it again, and reads a large result as a checked stream.
//
//   node client.mjs [ADDRESS]        (127.0.0.1:50051; "unix:PATH" works as well)
//
// For a server with TLS, THRIFTPACK_CA names the file of its authority; where it asks for certificates of its clients,
// THRIFTPACK_CERT and THRIFTPACK_KEY name those of this one.

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import grpc from "@grpc/grpc-js";
import protoLoader from "@grpc/proto-loader";
import { crc32c } from "./crc32c.mjs";

const definition = protoLoader.loadSync("thriftpack/v1/serializer.proto", {
  includeDirs: [fileURLToPath(new URL("../../api", import.meta.url))],
  keepCase: true, // names as in the .proto files
  longs: String, // an i64 does not fit a JavaScript number
  enums: String,
  oneofs: true,
});
const { SerializerService } = grpc.loadPackageDefinition(definition).thriftpack.v1;

// credentials are what the environment says: plaintext, TLS, or TLS with a certificate of the client's own.
export function credentials(env = process.env) {
  if (!env.THRIFTPACK_CA) {
    return grpc.credentials.createInsecure();
  }
  const read = (name) => (env[name] ? readFileSync(env[name]) : null);
  return grpc.credentials.createSsl(read("THRIFTPACK_CA"), read("THRIFTPACK_KEY"), read("THRIFTPACK_CERT"));
}

// Client speaks to one server. Values are plain objects, laid out as in value.proto; decoded ones name
// the member that is set in `kind`.
export class Client {
  #stub;

  constructor(address, channelCredentials = credentials()) {
    this.#stub = new SerializerService(address, channelCredentials);
  }

  // ready resolves once the server answers, and rejects after `milliseconds`.
  ready(milliseconds) {
    return new Promise((resolve, reject) => {
      this.#stub.waitForReady(Date.now() + milliseconds, (error) => (error ? reject(error) : resolve()));
    });
  }

  // encode resolves to the Thrift bytes of `value`.
  encode(value, options) {
    return this.#call("Encode", { value, options }).then((response) => response.data);
  }

  // decode resolves to the value that the Thrift bytes `data` hold.
  decode(data, options) {
    return this.#call("Decode", { data, options }).then((response) => response.value);
  }

  // encodeStream resolves to the same bytes as encode, in the chunks in which they came. It rejects when the stream was
  // cut short: the server ends each one with its length and its CRC-32C.
  encodeStream(value, chunkSize = 0) {
    return new Promise((resolve, reject) => {
      const chunks = [];
      let status;
      const stream = this.#stub.EncodeStream({ request: { value }, chunk_size: chunkSize });
      stream.on("data", (response) => chunks.push(response.data));
      stream.on("status", (s) => { status = s; });
      stream.on("error", reject);
      stream.on("end", () => setImmediate(() => {
        const bytes = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
        const crc = chunks.reduce((sum, chunk) => crc32c(chunk, sum), 0).toString(16).padStart(8, "0");
        const said = (name) => status?.metadata.get(name)[0];
        if (said("thriftpack-bytes") !== String(bytes) || said("thriftpack-crc32c") !== crc) {
          reject(new Error(`stream cut short: got ${bytes} bytes with CRC ${crc}, `
            + `the server sent ${said("thriftpack-bytes")} with ${said("thriftpack-crc32c")}`));
          return;
        }
        resolve(chunks);
      }));
    });
  }

  close() {
    this.#stub.close();
  }

  #call(method, request) {
    return new Promise((resolve, reject) => {
      this.#stub[method](request, (error, response) => (error ? reject(error) : resolve(response)));
    });
  }
}

async function main() {
  const client = new Client(process.argv[2] ?? "127.0.0.1:50051");
  const value = { struct: { fields: [
    { id: 1, i64: 42 },
    { id: 2, string: "tea" },
    { id: 3, list: { i32s: [1, -1, 300] } },
  ] } };
  const data = await client.encode(value);
  console.log(`encoded: ${data.toString("hex")}`);
  console.log(`decoded: ${JSON.stringify(await client.decode(data))}`);

  const numbers = Array.from({ length: 200_000 }, (_, i) => i);
  const chunks = await client.encodeStream({ list: { i64s: numbers } });
  console.log(`streamed: ${Buffer.concat(chunks).length} bytes in ${chunks.length} chunks, length and CRC as the server says`);
  client.close();
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await main();
}
