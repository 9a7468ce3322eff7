import { InvalidArgumentError, type Command } from 'commander';

import { limitOption, parseList, queueRedisOption, rpcOption, type CliCommand } from '../shared/cli-command.js';
import type { DecisionName } from './decide-job.js';
import type { JobEventOptions, JobListOptions, JobOptions } from './jobs.js';

const JOB_ID = 'j65f1c2aa-9f0c1d2e3f405162738495a6';

/** `tollgate jobs` */
export function defineJobs(program: CliCommand, env: NodeJS.ProcessEnv): void {
  const load = () => import('./jobs.js');
  const jobs = program.command('jobs').summary('agent jobs: look at them, approve, cancel, resume, retry');
  jobs.description('Manages agent jobs, directly in the journal.');

  jobs
    .query('list', 'Lists jobs, newest first. Jobs whose records cannot be read are at the top, as unreadable.')
    .option('--state <states>', 'only those in one of these states, comma separated', parseList)
    .option('--operation <name>', 'only jobs of this operation')
    .option('--wallet <name>', 'only jobs of this wallet')
    .addOption(limitOption(99_999))
    .example('jobs list --state NEEDS_OPERATOR')
    .answers(async (options: JobListOptions) => (await load()).listMatchingJobs(options, env));

  withId(jobs.query('show', 'Shows plan, steps, attempts and failure of one job.'))
    .example(`jobs show ${JOB_ID}`)
    .answers(async (id: string, options: JobOptions) => (await load()).showJob(id, options, env));

  const events = jobs
    .query('events', 'Prints what jobs reported, oldest first. With --json each line is one JSON document.')
    .option('--follow', 'continue until Ctrl-C')
    .addOption(limitOption(99_999))
    .example('jobs events --follow --json');
  events.action(async (options: JobEventOptions) => {
    const { printReports } = await load();
    await printReports(options, env, {
      print: (line) => events.print(line),
      say: (line) => void events.configureOutput().writeErr?.(`${line}\n`),
    });
  });

  const decision = (name: DecisionName, description: string): CliCommand => {
    const command = withId(jobs.query(name, description)).addOption(queueRedisOption());
    command.example(`jobs ${name} ${JOB_ID}${name === 'approve' ? ' --floors 5f2c…' : ''}`);
    return command.answers(async (id: string, options: JobOptions & { floors?: string }) =>
      (await load()).decide({ command: name, id, floorsHash: options.floors }, options, env),
    );
  };
  decision('cancel', 'Cancels a job; where a transaction is in flight, the chain decides.');
  decision('approve', 'Approves the plan that show prints.').requiredOption(
    '--floors <hash>',
    'the floors hash of the plan that you reviewed, as show prints it',
  );
  decision('reject', 'Rejects the plan.');
  decision('speed-up', 'Replaces the transaction of a job by one with higher fees, within the fee caps.');
  decision('resume', 'Continues a job that needs an operator where it stopped.');
  decision('abandon', 'Abandons a job that needs an operator; asks the chain first.').addOption(rpcOption());

  withId(
    jobs.query(
      'retry',
      'Submits the request of a failed job again. A second call makes another job only if that one failed too.',
    ),
  )
    .example(`jobs retry ${JOB_ID}`)
    .option('--key <key>', 'under this idempotency key', parseIdempotencyKey)
    .addOption(queueRedisOption())
    .answers(async (id: string, options: JobOptions & { key?: string }) => (await load()).retry(id, options, env));
}

function withId<One extends Command>(command: One): One {
  return command.argument('<id>', 'id of the job');
}

function parseIdempotencyKey(text: string): string {
  if (/^[\x21-\x7e]{1,255}$/.test(text)) return text;
  throw new InvalidArgumentError('It must be 1 to 255 visible ASCII characters.');
}
