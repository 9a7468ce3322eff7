import { IsRandomText, Setting, type ChecksTogether } from '@tollgate/common';
import { ArrayNotEmpty, IsArray, IsBoolean, IsIn, IsOptional, IsUrl, MinLength } from 'class-validator';

const CHALLENGE_FORMS = ['documented', 'v1-clients'] as const;
export type ChallengeForm = (typeof CHALLENGE_FORMS)[number];

export class ChallengeEnvironment implements ChecksTogether {
  @Setting({
    help: 'Signs the references of challenges; comma separated, the first one signs, all are accepted. At least 32 characters each, the same for every replica.',
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
    help:
      'How the body of a challenge names network and resource. documented: by NETWORK and path; v1-clients: by the name ' +
      'that published clients of version 1 know CHAIN_ID by, and by a URL under PUBLIC_URL.',
  })
  @IsIn(CHALLENGE_FORMS)
  readonly challengeForm: ChallengeForm = 'documented';

  @Setting({
    help: 'Take payments that the payer only signed, and settle them: a verifier with RELAYER_PRIVATE_KEYS must run.',
  })
  @IsBoolean()
  readonly signedPayments: boolean = false;

  @Setting({
    help: 'YAML or JSON file of the routes that are sold, beside the weather.',
    example: 'routes.yaml',
  })
  @IsOptional()
  readonly routesFile?: string;

  @Setting({
    help: 'Block explorer; the log then links each transaction at {EXPLORER_URL}/tx/{hash}.',
    example: 'https://explorer.example',
  })
  @IsOptional()
  @IsUrl({ protocols: ['http', 'https'], require_protocol: true, require_tld: false })
  readonly explorerUrl?: string;

  problemsTogether(): string[] {
    const areDifferent = new Set(this.challengeSecret).size === this.challengeSecret.length;
    return areDifferent ? [] : ['CHALLENGE_SECRET: two entries are equal. Keep one of them (its value is not shown).'];
  }
}
