import { dirname, join, relative } from 'node:path';

import { compareCheckouts, formatComparison, setUp, type ComparedLane } from './compare.js';
import type { LaneResult } from './lane.js';
import { runLane } from './lanes/run-lane.js';
import { HELP, parseOptions } from './options.js';
import { profileProcesses } from './profile-processes.js';
import { formatLane, createReport, writeReport } from './report.js';

async function main(): Promise<void> {
  const options = parseOptions(process.argv.slice(2));
  if (!options) {
    process.stdout.write(HELP);
    return;
  }
  const progress = createProgress(process.stderr);
  if (options.against !== null) {
    const lanes: ComparedLane[] = [];
    const { against } = options;
    for await (const lane of compareCheckouts({ ...options, against, progress: progress.show })) {
      progress.clear();
      process.stdout.write(`${formatComparison(lane)}\n`);
      lanes.push(lane);
      writeReport(createReport(options.rounds, lanes), options.output);
    }
    sayWhere(options.output);
    return;
  }
  progress.show('setting up');
  await setUp(process.cwd());
  const results: LaneResult[] = [];
  for (const lane of options.lanes) {
    const run = () => runLane(lane, { ...options, progress: (text) => progress.show(`${lane}: ${text}`) });
    const result = options.profile ? await profileProcesses(join(dirname(options.output), lane), run) : await run();
    progress.clear();
    process.stdout.write(`${formatLane(result)}\n`);
    results.push(result);
    // After each lane, so that an interrupted run leaves the results so far.
    writeReport(createReport(options.rounds, results), options.output);
  }
  sayWhere(options.output);
}

/** One line that is written over on a terminal; a line each elsewhere. */
function createProgress(stream: NodeJS.WriteStream): { show: (text: string) => void; clear: () => void } {
  if (!stream.isTTY) return { show: (text) => void stream.write(`${text}\n`), clear: () => undefined };
  const overwrite = (text: string) => void stream.write(`\r\u001b[K${text.slice(0, stream.columns - 1)}`);
  return { show: overwrite, clear: () => overwrite('') };
}

function sayWhere(output: string): void {
  process.stdout.write(`Written to ${relative(process.cwd(), output) || output}\n`);
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    process.stderr.write(
      `\n${error instanceof Error ? (process.env['DEBUG'] ? error.stack : error.message) : String(error)}\n`,
    );
    process.exit(1);
  },
);
