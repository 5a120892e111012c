"""A client of thriftpack in Python: encodes a value, decodes it again, reads a large result as a checked stream.

    ./generate.sh && python3 client.py [ADDRESS]       (127.0.0.1:50051; "unix:PATH" works as well)

For a server with TLS, THRIFTPACK_CA names the file of its authority; where it asks for certificates of its clients,
THRIFTPACK_CERT and THRIFTPACK_KEY name those of this one.
"""

import os
import pathlib
import sys

import grpc

sys.path.insert(0, str(pathlib.Path(__file__).parent / "gen"))

from thriftpack.v1 import serializer_pb2 as serializer
from thriftpack.v1 import serializer_pb2_grpc as services
from thriftpack.v1 import value_pb2 as values


class CutShort(Exception):
    """A stream that ended with other bytes than the server sent."""


def credentials(env=os.environ):
    """Returns what the environment says: None for plaintext, TLS, or TLS with a certificate of the client's own."""
    if not env.get("THRIFTPACK_CA"):
        return None

    def read(name):
        return pathlib.Path(env[name]).read_bytes() if env.get(name) else None

    return grpc.ssl_channel_credentials(read("THRIFTPACK_CA"), read("THRIFTPACK_KEY"), read("THRIFTPACK_CERT"))


class Client:
    """Speaks to one server, in plaintext without credentials. Values are the messages of value.proto."""

    def __init__(self, address, channel_credentials=None):
        if channel_credentials:
            self._channel = grpc.secure_channel(address, channel_credentials)
        else:
            self._channel = grpc.insecure_channel(address)
        self._stub = services.SerializerServiceStub(self._channel)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._channel.close()

    def wait(self, seconds):
        """Returns once the server answers."""
        grpc.channel_ready_future(self._channel).result(timeout=seconds)

    def encode(self, value, options=None):
        """Returns the Thrift bytes of value."""
        return self._stub.Encode(serializer.EncodeRequest(value=value, options=options)).data

    def decode(self, data, options=None):
        """Returns the value that the Thrift bytes hold."""
        return self._stub.Decode(serializer.DecodeRequest(data=data, options=options)).value

    def encode_stream(self, value, chunk_size=0):
        """Yields the bytes of encode in chunks.

        Raises CutShort at the end when bytes are missing: the server ends each stream with its length and its CRC-32C.
        """
        request = serializer.EncodeStreamRequest(
            request=serializer.EncodeRequest(value=value), chunk_size=chunk_size)
        call = self._stub.EncodeStream(request)
        count, crc = 0, 0
        for response in call:
            count += len(response.data)
            crc = crc32c(response.data, crc)
            yield response.data
        said = dict(call.trailing_metadata())
        want = (said.get("thriftpack-bytes"), said.get("thriftpack-crc32c"))
        if want != (str(count), f"{crc:08x}"):
            raise CutShort(f"got {count} bytes with CRC {crc:08x}, the server sent {want[0]} with {want[1]}")


def _crc_table():
    for n in range(256):
        for _ in range(8):
            n = n >> 1 ^ 0x82F63B78 if n & 1 else n >> 1
        yield n


_TABLE = tuple(_crc_table())


def crc32c(data, crc=0):
    """Continues the CRC-32C (Castagnoli) crc, 0 at the start, over data."""
    crc ^= 0xFFFFFFFF
    for byte in data:
        crc = _TABLE[(crc ^ byte) & 0xFF] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


def main():
    address = sys.argv[1] if len(sys.argv) > 1 else "127.0.0.1:50051"
    with Client(address, credentials()) as client:
        value = values.Value(struct=values.Struct(fields=[
            values.Field(id=1, i64=42),
            values.Field(id=2, string="tea"),
            values.Field(id=3, list=values.List(i32s=[1, -1, 300])),
        ]))
        data = client.encode(value)
        print("encoded:", data.hex())
        print("decoded:", client.decode(data))

        numbers = values.Value(list=values.List(i64s=range(200_000)))
        chunks = list(client.encode_stream(numbers))
        print(f"streamed: {sum(map(len, chunks))} bytes in {len(chunks)} chunks, length and CRC as the server says")


if __name__ == "__main__":
    main()
