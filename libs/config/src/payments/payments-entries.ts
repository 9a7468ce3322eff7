import { listSignedMethods } from '@tollgate/protocol';
import {
  ArrayNotEmpty,
  ArrayUnique,
  IsArray,
  IsInt,
  IsOptional,
  IsString,
  Matches,
  Max,
  Min,
  ValidateBy,
} from 'class-validator';

const text = { message: '$property must be text' };

function IsTextOrTexts(message: string, least = 1): PropertyDecorator {
  const isText = (value: unknown): boolean => typeof value === 'string' && value !== '';
  const validate = (value: unknown): boolean =>
    isText(value) || (Array.isArray(value) && value.length >= least && value.every(isText));
  return ValidateBy({ name: 'isTextOrTexts', validator: { validate } }, { message });
}

function IsPublicUrl(): PropertyDecorator {
  const validate = (value: unknown): boolean => {
    if (typeof value !== 'string' || !URL.canParse(value)) return false;
    const { protocol, username, password } = new URL(value);
    return /^https?:$/.test(protocol) && username === '' && password === '';
  };
  return ValidateBy(
    { name: 'isPublicUrl', validator: { validate } },
    { message: '$property must be an http or https URL without user name and password: every visitor can read it' },
  );
}

/** One chain of the payments file. Every field is checked; the initialisers are the defaults. */
export class ChainEntry {
  @IsOptional()
  @IsInt({ message: 'id must be a whole number' })
  @Min(1, { message: 'id must be at least $constraint1' })
  @Max(281_474_976_710_655, { message: 'id must be at most $constraint1' })
  id?: number;

  @IsOptional()
  @Matches(/^[\x21-\x7e]{1,64}$/, { message: 'network must be 1 to 64 visible characters' })
  network?: string;

  @IsOptional()
  @IsTextOrTexts('rpc must be a URL or a list of URLs')
  rpc?: string | string[];

  @IsInt({ message: 'confirmations must be a whole number of blocks' })
  @Min(1, { message: 'confirmations must be at least $constraint1' })
  @Max(1_000, { message: 'confirmations must be at most $constraint1' })
  confirmations: number = 1;

  /** For the bookkeeper, in place of `rpc`; an empty list: the book is not compared with this chain. */
  @IsOptional()
  @IsTextOrTexts('reconcileRpc must be a URL, or a list of URLs', 0)
  reconcileRpc?: string | string[];

  @IsOptional()
  @IsInt({ message: 'reconcileConfirmations must be a whole number of blocks' })
  @Min(1, { message: 'reconcileConfirmations must be at least $constraint1' })
  @Max(100_000, { message: 'reconcileConfirmations must be at most $constraint1' })
  reconcileConfirmations?: number;

  @IsOptional()
  @IsString(text)
  relayers?: string;

  @IsOptional()
  @Matches(/^https?:\/\/\S+$/, { message: 'explorer must be a URL' })
  explorer?: string;

  @IsOptional()
  @Matches(/^[ -~]{1,60}$/, { message: 'title must be 1 to 60 visible characters' })
  title?: string;

  @IsOptional()
  @Matches(/^[A-Za-z0-9]{2,6}$/, { message: 'coin must be 2 to 6 letters or digits' })
  coin?: string;

  @IsOptional()
  @IsPublicUrl()
  walletRpc?: string;
}

/** `transfer`: the payer sends a transaction of its own. */
const listMethods = (): string[] => ['transfer', ...listSignedMethods().map(({ transferMethod }) => transferMethod)];

function AreMethods(): PropertyDecorator {
  const validate = (value: unknown): boolean => listMethods().some((method) => method === value);
  const defaultMessage = (): string => `methods may be ${listMethods().join(', ')}`;
  return ValidateBy({ name: 'areMethods', validator: { validate, defaultMessage } }, { each: true });
}

/** One option of the payments file. Every field is checked; the initialisers are the defaults. */
export class OptionEntry {
  @IsString(text)
  chain!: string;

  @IsString({ message: 'token must be a symbol such as USDC, or an address in quotes' })
  token!: string;

  @IsTextOrTexts('payTo must be an address in quotes, or a list of them')
  payTo!: string | string[];

  @IsOptional()
  @IsInt({ message: 'decimals must be a whole number' })
  @Min(0, { message: 'decimals must be at least $constraint1' })
  @Max(36, { message: 'decimals must be at most $constraint1' })
  decimals?: number;

  @IsOptional()
  @Matches(/^\S{1,32}$/, { message: 'symbol must be 1 to 32 characters without spaces' })
  symbol?: string;

  @IsOptional()
  @Matches(/^[ -~]{1,64}$/, { message: 'name must be 1 to 64 visible characters' })
  name?: string;

  @IsOptional()
  @Matches(/^\S{1,32}$/, { message: 'version must be text of 1 to 32 characters without spaces' })
  version?: string;

  @Matches(/^(?=.*[1-9])\d{1,18}(\.\d{1,36})?$/, { message: 'rate must be a decimal number above 0 such as 0.00026' })
  rate: string = '1';

  @IsOptional()
  @IsArray({ message: `methods must be a list such as [${listMethods().join(', ')}]` })
  @ArrayNotEmpty({ message: 'methods must list at least one method' })
  @ArrayUnique({ message: 'methods lists a method twice' })
  @AreMethods()
  methods?: string[];
}
