import {
  ArrayNotEmpty,
  ArrayUnique,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsObject,
  IsOptional,
  IsString,
  Length,
  Matches,
  Max,
  Min,
} from 'class-validator';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

const text = { message: '$property must be text' };

/** One entry of the routes file. Every field is checked; the initialisers are the defaults. */
export class RouteDescription {
  @IsString(text)
  path!: string;

  @IsString({ message: 'price must be a decimal number such as "0.01"' })
  price!: string;

  @IsString(text)
  upstream!: string;

  @IsOptional()
  @IsArray({ message: 'accepts must be a list of options such as [usdc-base]' })
  @ArrayNotEmpty({ message: 'accepts must list at least one option' })
  @ArrayUnique({ message: 'accepts lists an option twice' })
  @IsString({ each: true, message: 'accepts must be a list of names' })
  accepts?: string[];

  @IsOptional()
  @Matches(/^0x[0-9a-f]{40}$/i, { message: 'payTo must be an address in quotes' })
  payTo?: string;

  @IsArray({ message: 'methods must be a list such as [GET, POST]' })
  @ArrayNotEmpty({ message: 'methods must list at least one method' })
  @ArrayUnique({ message: 'methods lists a method twice' })
  @IsIn(METHODS, {
    each: true,
    message: `methods may be ${METHODS.join(', ')}, in capitals; HEAD and OPTIONS are answered for every route`,
  })
  methods: string[] = ['GET'];

  @IsOptional()
  @IsString(text)
  @Length(1, 500, { message: '$property must have 1 to 500 characters' })
  description?: string;

  @Matches(/^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(;[ !-~]*)?$/, {
    message: 'mimeType must be a media type such as application/json',
  })
  mimeType: string = 'application/json';

  @IsIn(['stored', 'streamed'], { message: 'answer must be stored or streamed' })
  answer: 'stored' | 'streamed' = 'stored';

  @IsIn(['<400', '<500'], { message: 'chargeOn must be "<400" or "<500"' })
  chargeOn: '<400' | '<500' = '<400';

  @IsIn(['after', 'before'], { message: 'settle must be after or before' })
  settle: 'after' | 'before' = 'after';

  @IsBoolean({ message: 'metered must be true or false' })
  metered: boolean = false;

  @IsInt({ message: 'revisitSeconds must be a whole number of seconds' })
  @Min(0, { message: 'revisitSeconds must be at least $constraint1' })
  @Max(2_592_000, { message: 'revisitSeconds must be at most $constraint1' })
  revisitSeconds: number = 0;

  @IsInt({ message: 'timeoutMs must be a whole number of milliseconds' })
  @Min(100, { message: 'timeoutMs must be at least $constraint1' })
  @Max(600_000, { message: 'timeoutMs must be at most $constraint1' })
  timeoutMs: number = 30_000;

  @IsOptional()
  @IsInt({ message: 'maxBodyBytes must be a whole number of bytes' })
  @Min(1, { message: 'maxBodyBytes must be at least $constraint1' })
  @Max(268_435_456, { message: 'maxBodyBytes must be at most $constraint1' })
  maxBodyBytes?: number;

  @IsString(text)
  stripPrefix: string = '';

  @IsBoolean({ message: 'passCredentials must be true or false' })
  passCredentials: boolean = false;

  @IsObject({ message: 'upstreamHeaders must be names and values' })
  upstreamHeaders: Record<string, unknown> = {};
}
