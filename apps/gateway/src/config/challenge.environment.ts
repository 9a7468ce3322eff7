import { IsRandomText, Setting, type ChecksTogether } from '@tollgate/config';
import { listSignedMethods } from '@tollgate/protocol';
import { ArrayNotEmpty, IsArray, IsBoolean, IsIn, IsOptional, MinLength } from 'class-validator';

const METHODS = listSignedMethods()
  .map(({ title }) => title)
  .join(', ');
const CHALLENGE_FORMS = ['documented', 'v1-clients'] as const;
export type ChallengeForm = (typeof CHALLENGE_FORMS)[number];

export class ChallengeEnvironment implements ChecksTogether {
  @Setting({
    help: 'Secrets that sign the references of challenges, comma separated: the first signs, all are accepted. 32 characters or more each, the same at every gateway.',
    secret: true,
    as: 'list',
    example: '$(openssl rand -hex 32)',
  })
  @IsArray()
  @ArrayNotEmpty()
  @MinLength(32, { each: true, message: 'every secret of $property must have at least 32 characters' })
  @IsRandomText({ each: true, message: 'a secret of $property is a placeholder instead of random text' })
  readonly challengeSecret!: string[];

  @Setting({
    help: 'How the body of a challenge names network and resource. documented: NETWORK and the path; v1-clients: the name by which x402 v1 clients know CHAIN_ID, and a URL under PUBLIC_URL.',
  })
  @IsIn(CHALLENGE_FORMS)
  readonly challengeForm: ChallengeForm = 'documented';

  @Setting({
    help: `Accept signed payments (${METHODS}) and settle them. Needs a verifier with RELAYER_PRIVATE_KEYS.`,
  })
  @IsBoolean()
  readonly signedPayments: boolean = false;

  @Setting({
    help: 'YAML or JSON file of the paid routes. Without it the sample weather is sold (WEATHER_SOURCE).',
    example: 'routes.yaml',
  })
  @IsOptional()
  readonly routesFile?: string;

  problemsTogether(): string[] {
    const areDifferent = new Set(this.challengeSecret).size === this.challengeSecret.length;
    return areDifferent ? [] : ['CHALLENGE_SECRET: two entries are equal. Keep one of them (its value is not shown).'];
  }
}
