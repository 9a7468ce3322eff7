import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';

const SHARED = /\/shared\//;
/** Parts of a lane's program, each called by the name of its file. */
const TRANSITION = /^libs\/journal\/src\/scripts\/(job|lane|plan|step)\//;

/** @throws when a `.lua` file of the services was not run */
export default function checkRecord({ rootDir, testPathPatterns, testNamePattern }) {
  const folder = process.env.TOLLGATE_TEST_ONE_SLOT_ONLY;
  const noted = readdirSync(folder).flatMap((name) =>
    readFileSync(join(folder, name), 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line)),
  );
  rmSync(folder, { recursive: true });
  // Some of the tests run some of the scripts.
  if (testNamePattern || testPathPatterns?.patterns?.length > 0) return;
  const words = new Set(noted.flatMap(({ word }) => word ?? []));
  const texts = noted.flatMap(({ text }) => text ?? []);
  const files = execFileSync('git', ['ls-files', '*.lua'], { cwd: rootDir, encoding: 'utf8' }).split('\n');
  const missed = files.filter((file) => {
    if (file === '' || SHARED.test(file)) return false;
    const text = readFileSync(join(rootDir, file), 'utf8');
    const wasRun = texts.some((one) => one.includes(text));
    return !(wasRun && (!TRANSITION.test(file) || words.has(nameOf(file)) || !isPartOfProgram(texts, text)));
  });
  if (missed.length > 0) throw new Error(`not run on a cluster: ${missed.join(', ')}`);
  console.log(`all ${files.filter((file) => file !== '' && !SHARED.test(file)).length} scripts ran within one slot`);
}

/** `put-plan.lua` is the transition `putPlan`. */
function nameOf(file) {
  return basename(file, '.lua').replace(/-(\w)/g, (_, letter) => letter.toUpperCase());
}

/** Whether the text is only found inside of the lane's program. */
function isPartOfProgram(texts, text) {
  return texts.every((one) => !one.includes(text) || one.includes('local function goes_on('));
}
