"""Writes NAME.python.bin for each NAME.json: protobuf's Python runtime. Usage: encode.py WORK OUT"""

import pathlib
import sys

work, out = map(pathlib.Path, sys.argv[1:3])
sys.path.insert(0, str(work))

from google.protobuf import json_format  # noqa: E402
from thriftpack.v1 import value_pb2  # noqa: E402

for path in sorted(work.glob("*.json")):
    value = json_format.Parse(path.read_text(), value_pb2.Value(), max_recursion_depth=200)
    (out / f"{path.stem}.python.bin").write_bytes(value.SerializeToString())
