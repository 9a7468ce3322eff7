import { createSocket } from 'node:dgram';
import { once } from 'node:events';

/** The addresses of a name, or none; called for every query. */
export type DnsRecords = (name: string, type: 'A' | 'AAAA') => readonly string[];

export interface DnsServer {
  /** The value for `nameServers`. */
  address: string;
  /** Every name that was queried, once for each of `A` and `AAAA`. */
  asked: string[];
  close(): Promise<void>;
}

const TYPES: Record<number, 'A' | 'AAAA'> = { 1: 'A', 28: 'AAAA' };

/** A name server on UDP with the answers of a test. */
export async function startDnsServer(records: DnsRecords): Promise<DnsServer> {
  const socket = createSocket('udp4');
  const asked: string[] = [];
  socket.on('message', (message, { address, port }) => {
    const { name, type, end } = readQuestion(message);
    asked.push(name);
    const answers = (type ? records(name, type) : []).map(encodeAddress);
    const header = Buffer.from(message.subarray(0, 12));
    // A response, recursion available; NXDOMAIN without a record. One question, the answers, nothing else.
    header.writeUInt16BE(answers.length === 0 ? 0x8183 : 0x8180, 2);
    header.writeUInt16BE(answers.length, 6);
    header.writeUInt32BE(0, 8);
    const bodies = answers.map((bytes) => {
      const record = Buffer.alloc(12);
      record.writeUInt16BE(0xc00c, 0);
      record.writeUInt16BE(bytes.length === 4 ? 1 : 28, 2);
      record.writeUInt16BE(1, 4);
      record.writeUInt16BE(bytes.length, 10);
      return Buffer.concat([record, bytes]);
    });
    socket.send(Buffer.concat([header, message.subarray(12, end), ...bodies]), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return {
    address: `127.0.0.1:${socket.address().port}`,
    asked,
    close: () => new Promise((resolve) => socket.close(() => resolve())),
  };
}

function readQuestion(message: Buffer): { name: string; type: 'A' | 'AAAA' | undefined; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), type: TYPES[message.readUInt16BE(at + 1)], end: at + 5 };
}

/** Dotted IPv4, or IPv6 with all eight groups written out. */
function encodeAddress(address: string): Buffer {
  if (address.includes('.')) return Buffer.from(address.split('.').map(Number));
  const bytes = Buffer.alloc(16);
  address.split(':').forEach((group, index) => bytes.writeUInt16BE(parseInt(group, 16), index * 2));
  return bytes;
}
