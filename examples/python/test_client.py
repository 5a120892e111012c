"""Runs the client against the server at THRIFTPACK_ADDR; `make test-clients` starts one."""

import math
import os
import unittest

import grpc

from client import Client, crc32c, credentials, serializer, values

UUID = bytes.fromhex("00112233445566778899aabbccddeeff")

# One field of each kind. The bytes were written down by hand from the specification of the compact protocol.
ROWS = [
    ("bool", {"bool": True}, "11 00"),
    ("bool false", {"bool": False}, "12 00"),
    ("i8", {"i8": -128}, "13 80 00"),
    ("i16", {"i16": -32768}, "14 ff ff 03 00"),
    ("i32", {"i32": -2**31}, "15 ff ff ff ff 0f 00"),
    ("i64", {"i64": -2**63}, "16 ff ff ff ff ff ff ff ff ff 01 00"),
    ("double", {"double": 1.5}, "17 00 00 00 00 00 00 f8 3f 00"),
    ("infinity", {"double": -math.inf}, "17 00 00 00 00 00 00 f0 ff 00"),
    ("binary", {"binary": b"\x00\xff"}, "18 02 00 ff 00"),
    ("list", {"list": values.List(i32s=[1, -1, 300])}, "19 35 02 01 d8 04 00"),
    ("list of bool", {"list": values.List(bools=[True, False])}, "19 21 01 02 00"),
    ("list of i8", {"list": values.List(i8s=b"\x01\xff")}, "19 23 01 ff 00"),
    ("empty list", {"list": values.List(element_type=values.TYPE_I32)}, "19 05 00"),
    ("set", {"set": values.List(binaries=[b"a"])}, "1a 18 01 61 00"),
    ("map", {"map": values.Map(keys=values.List(binaries=[b"a"]), values=values.List(i32s=[1]))},
     "1b 01 85 01 61 02 00"),
    ("struct", {"struct": values.Struct(fields=[values.Field(id=1, bool=True)])}, "1c 11 00 00"),
    ("uuid", {"uuid": UUID}, "1d 00 11 22 33 44 55 66 77 88 99 aa bb cc dd ee ff 00"),
]


def struct_of(**kind):
    return values.Value(struct=values.Struct(fields=[values.Field(id=1, **kind)]))


class ClientTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        address = os.environ.get("THRIFTPACK_ADDR")
        if not address:
            raise RuntimeError("THRIFTPACK_ADDR names no server; run make test-clients")
        cls.client = cls.enterClassContext(Client(address, credentials()))
        cls.address = address
        cls.client.wait(30)

    def test_encodes_and_decodes_every_kind(self):
        for name, kind, want in ROWS:
            with self.subTest(name):
                value = struct_of(**kind)
                data = self.client.encode(value)
                self.assertEqual(data.hex(), want.replace(" ", ""))
                self.assertEqual(self.client.decode(data), value)

    def test_rows_name_every_kind(self):
        kinds = {field.name for field in values.Field.DESCRIPTOR.oneofs_by_name["kind"].fields}
        # The wire cannot tell text from bytes: string has a test of its own.
        self.assertEqual(kinds - {"string"}, {next(iter(kind)) for _, kind, _ in ROWS})

    def test_text_is_detected_when_asked_for(self):
        value = struct_of(string="é😀")
        data = self.client.encode(value)
        self.assertEqual(data.hex(), "1806c3a9f09f988000")
        self.assertEqual(self.client.decode(data, serializer.DecodeOptions(detect_text=True)), value)

    def test_48_structs_inside_each_other(self):
        value = struct_of(i32=7)
        for _ in range(47):
            value = struct_of(struct=value.struct)
        data = self.client.encode(value)
        self.assertEqual(data.hex(), "1c" * 47 + "150e" + "00" * 48)
        self.assertEqual(self.client.decode(data), value)

    def test_streams_what_the_unary_call_returns(self):
        value = struct_of(list=values.List(i64s=[i * i for i in range(200_000)]))
        unary = self.client.encode(value)
        for chunk_size in (0, 4096, 1048576):
            with self.subTest(chunk_size=chunk_size):
                chunks = list(self.client.encode_stream(value, chunk_size))
                self.assertTrue(b"".join(chunks) == unary, "other bytes than the unary reply")
                if chunk_size == 4096:
                    self.assertGreater(len(chunks), 100)

    def test_a_value_out_of_range_is_named(self):
        with self.assertRaises(grpc.RpcError) as caught:
            self.client.encode(struct_of(i16=40000))
        self.assertEqual(caught.exception.code(), grpc.StatusCode.INVALID_ARGUMENT)
        self.assertRegex(caught.exception.details(), r"value\.struct\.fields\[0\]\.i16.*40000")

    def test_bytes_cut_short_are_named_by_offset(self):
        with self.assertRaises(grpc.RpcError) as caught:
            self.client.decode(bytes.fromhex("1502"))
        self.assertEqual(caught.exception.code(), grpc.StatusCode.INVALID_ARGUMENT)
        self.assertIn("offset 2", caught.exception.details())

    @unittest.skipUnless(os.environ.get("THRIFTPACK_CERT"), "the server asks for no certificate")
    def test_without_a_certificate_nobody_is_served(self):
        stranger = credentials({"THRIFTPACK_CA": os.environ["THRIFTPACK_CA"]})
        with Client(self.address, stranger) as client, self.assertRaises(grpc.RpcError) as caught:
            client.encode(struct_of(bool=True))
        self.assertEqual(caught.exception.code(), grpc.StatusCode.UNAVAILABLE)

    def test_crc32c_check_value(self):
        self.assertEqual(crc32c(b"123456789"), 0xE3069283)


if __name__ == "__main__":
    unittest.main()
