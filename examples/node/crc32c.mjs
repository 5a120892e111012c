// CRC-32C (Castagnoli), which Node does not have.

const table = Uint32Array.from({ length: 256 }, (_, n) => {
  for (let bit = 0; bit < 8; bit++) {
    n = n & 1 ? (n >>> 1) ^ 0x82f63b78 : n >>> 1;
  }
  return n >>> 0;
});

// crc32c continues the checksum `crc` (0 at the start) over `bytes`.
export function crc32c(bytes, crc = 0) {
  crc = ~crc;
  for (const byte of bytes) {
    crc = table[(crc ^ byte) & 0xff] ^ (crc >>> 8);
  }
  return ~crc >>> 0;
}
