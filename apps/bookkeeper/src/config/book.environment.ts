import type { BookPlace } from '@tollgate/book';
import { IsIntIn, IsRandomText, Setting, type ChecksTogether } from '@tollgate/config';
import { createPreimageSigner, type PreimageSigner } from '@tollgate/crypto';
import { IsNotEmpty, IsOptional, Matches, ValidateBy } from 'class-validator';

const URL_MESSAGE =
  '$property must be a postgres:// URL, with the characters # / ? and @ of user and password percent-encoded';
const KEY_MESSAGE = '$property must be 32 bytes in hexadecimal';
const GUESSED_MESSAGE = '$property is repeated or counted, not random: others can guess it, and sign closings';

/** Where the book is, and the key that signs its closings. */
export class BookEnvironment implements ChecksTogether {
  @Setting({
    secret: true,
    help: 'PostgreSQL server of the book, version 15 or newer. Without it the book is in BOOK_FOLDER.',
    example: 'postgres://tollgate@db.example/tollgate',
  })
  @IsOptional()
  @ValidateBy({ name: 'isPostgresUrl', validator: { validate: isPostgresUrl } }, { message: URL_MESSAGE })
  readonly bookDatabaseUrl?: string;

  @Setting({
    help: 'Folder of the book, on a disk of this machine, for one process at a time; after one that was killed under another host name, remove its file bookkeeper.lock.',
  })
  @IsNotEmpty()
  readonly bookFolder: string = 'book';

  @Setting({
    help: 'Copy of a book (tollgate backup --book): restored at the start if the book is empty.',
    example: '/backups/tollgate-2026-11-25.book',
  })
  @IsOptional()
  @IsNotEmpty()
  readonly bookRestore?: string;

  @Setting({
    secret: true,
    help: 'Private key that signs the closings of the book, in hexadecimal. Keep it away from the database, and use no account with money.',
    example: '$(openssl rand -hex 32)',
  })
  @Matches(/^(0x)?[0-9a-f]{64}$/i, { message: KEY_MESSAGE })
  @IsRandomText({ message: GUESSED_MESSAGE })
  readonly bookSigningKey!: string;

  @Setting({
    help: 'Addresses of the keys that signed closings before BOOK_SIGNING_KEY, comma separated, the oldest first.',
    as: 'list',
    example: '0x1c7d4b196cb0c7b01d743fbc6116a902379c7238',
  })
  @Matches(/^0x[0-9a-f]{40}$/i, { each: true, message: 'every entry of $property must be an address' })
  readonly bookFormerSigners: string[] = [];

  @Setting({
    help: 'Events that the bookkeeper writes in one transaction.',
  })
  @IsIntIn(1, 10_000)
  readonly bookBatch: number = 500;

  #signer: PreimageSigner | null = null;

  get place(): BookPlace {
    return this.bookDatabaseUrl === undefined ? { folder: this.bookFolder } : { url: this.bookDatabaseUrl };
  }

  /** Signs closings. */
  get signer(): PreimageSigner {
    if (this.#signer === null) throw new Error('the settings of the book were not checked');
    return this.#signer;
  }

  /** The addresses whose signatures closings may have, in the order in which they signed. */
  get signers(): string[] {
    return [...this.bookFormerSigners.map((address) => address.toLowerCase()), this.signer.address];
  }

  problemsTogether(): string[] {
    this.#signer = createPreimageSigner(`0x${this.bookSigningKey.replace(/^0x/i, '')}`);
    if (this.#signer === null) return ['BOOK_SIGNING_KEY is no private key: it is too large.'];
    if (!PUBLIC_ACCOUNTS.has(this.#signer.address)) return [];
    return ['BOOK_SIGNING_KEY is the key of a public test account. Make one of your own: openssl rand -hex 32'];
  }
}

/** Without a host the driver takes the socket in the folder of the parameter `host`. */
function isPostgresUrl(value: unknown): boolean {
  const url = String(value);
  return /^postgres(ql)?:\/\/\S+$/.test(url) && URL.canParse(url.replace('@/', '@socket/'));
}

/** Accounts whose private keys are printed in the documentation of tools, in lower case. */
const PUBLIC_ACCOUNTS: ReadonlySet<string> = new Set([
  // anvil and Hardhat
  '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266',
  '0x70997970c51812dc3a010c7d01b50e0d17dc79c8',
  '0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc',
  '0x90f79bf6eb2c4f870365e785982e1f101e93b906',
  '0x15d34aaf54267db7d7c367839aaf71a00a2c6a65',
  '0x9965507d1a55bcc2695c58ba16fb37d819b0a4dc',
  '0x976ea74026e726554db657fa54763abd0c3a0aa9',
  '0x14dc79964da2c08b23698b3d3cc7ca32193d9955',
  '0x23618e81e3f5cdf7f54c3d65f7fbc0abf5b21e8f',
  '0xa0ee7a142d267c1f36714e4a8f75612f20a79720',
  // Ganache with --wallet.deterministic
  '0x90f8bf6a479f320ead074411a4b0e7944ea8c9c1',
  '0xffcf8fdee72ac11b5c542428b35eef5769c409f0',
  '0x22d491bde2303f2f43325b2108d26f1eaba1e32b',
  '0xe11ba2b4d45eaed5996cd0823791e0c93114882d',
  '0xd03ea8624c8c5987235048901fb614fdca89b117',
  '0x95ced938f7991cd0dfcb48f0a06a40fa1af46ebc',
  '0x3e5e9111ae8eb78fe1cc3bb8915d5d461f3ef9a9',
  '0x28a8746e75304c0780e011bed21c72cd78cd535e',
  '0xaca94ef8bd5ffee41947b4585a84bda5a3d3da6e',
  '0x1df62f291b2e969fb0849d99d9ce41e2f137006e',
  // the examples of web3.js
  '0x2c7536e3605d9c16a7a3d7b1898e529396a65c23',
  '0xb8ce9ab6943e0eced004cde8e3bbed6568b2fa01',
]);
