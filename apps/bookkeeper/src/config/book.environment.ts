import type { BookPlace } from '@tollgate/book';
import { IsIntIn, IsRandomText, Setting, type ChecksTogether } from '@tollgate/config';
import { createPreimageSigner, type PreimageSigner } from '@tollgate/crypto';
import { IsNotEmpty, IsOptional, Matches, ValidateBy } from 'class-validator';

import { PUBLIC_ACCOUNTS } from './public-accounts.js';

const URL_MESSAGE =
  '$property must be a postgres:// URL, with the characters # / ? and @ of user and password percent-encoded';
const KEY_MESSAGE = '$property must be 32 bytes in hexadecimal';
const GUESSED_MESSAGE = '$property is repeated or counted, not random: others can guess it, and sign closings';

/** Where the book is, and the key that signs its closings. */
export class BookEnvironment implements ChecksTogether {
  @Setting({
    secret: true,
    help: 'PostgreSQL server of the book, version 15 or newer. Without it the book is in BOOK_FOLDER, in a database inside the bookkeeper.',
    example: 'postgres://tollgate@db.example/tollgate',
  })
  @IsOptional()
  @ValidateBy({ name: 'isPostgresUrl', validator: { validate: isPostgresUrl } }, { message: URL_MESSAGE })
  readonly bookDatabaseUrl?: string;

  @Setting({
    help: 'Folder of the book where BOOK_DATABASE_URL is not set, on a disk of this machine: each commit waits for it. Only one process can have it open; after one that was killed in a container or on a machine of another host name, remove its file bookkeeper.lock.',
  })
  @IsNotEmpty()
  readonly bookFolder: string = 'book';

  @Setting({
    help: 'Copy of a book, made by tollgate backup --book: it is restored at the start if the book is empty.',
    example: '/backups/tollgate-2026-11-25.book',
  })
  @IsOptional()
  @IsNotEmpty()
  readonly bookRestore?: string;

  @Setting({
    secret: true,
    help: 'Private key that signs the closings of the book: 32 bytes in hexadecimal. Keep it away from the database, and from any account that has money.',
    example: '$(openssl rand -hex 32)',
  })
  @Matches(/^(0x)?[0-9a-f]{64}$/i, { message: KEY_MESSAGE })
  @IsRandomText({ message: GUESSED_MESSAGE })
  readonly bookSigningKey!: string;

  @Setting({
    help: 'Addresses of the keys that signed closings of the book before BOOK_SIGNING_KEY, comma separated, the oldest first.',
    as: 'list',
    example: '0x1c7d4b196cb0c7b01d743fbc6116a902379c7238',
  })
  @Matches(/^0x[0-9a-f]{40}$/i, { each: true, message: 'every entry of $property must be an address' })
  readonly bookFormerSigners: string[] = [];

  @Setting({
    help: 'Events that the bookkeeper reads from one stream, and writes to the book in one transaction, at a time.',
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
