// Writes NAME.js.bin for each NAME.json: protobuf.js. Usage: encode.js VALUE_PROTO WORK OUT
'use strict';
const fs = require('node:fs');
const path = require('node:path');
const protobuf = require('protobufjs');

const [, , proto, work, out] = process.argv;
const Value = protobuf.loadSync(proto).lookupType('thriftpack.v1.Value');

// Doubles that protobuf-JSON writes as text.
const special = { NaN: NaN, Infinity: Infinity, '-Infinity': -Infinity };
const revive = (key, value) =>
  key === 'double' ? (special[value] ?? value) : key === 'doubles' ? value.map((v) => special[v] ?? v) : value;

for (const file of fs.readdirSync(work).filter((name) => name.endsWith('.json') && !name.startsWith('package'))) {
  const object = JSON.parse(fs.readFileSync(path.join(work, file), 'utf8'), revive);
  const bytes = Value.encode(Value.fromObject(object)).finish();
  fs.writeFileSync(path.join(out, file.replace(/json$/, 'js.bin')), bytes);
}
