// npm run check:names: exported names that two or more product files define. A reader who searches for a name should
// find one definition; what must stay has its reason here.
import { readProductFiles } from './product-files.mjs';

/** At most ten. */
const ALLOWED = {
  Account: 'Published by the client; the account of a wallet, as the services list it, is another view of the same.',
  Offer: 'Published by the client, for what a server asks; and by the middleware, for what a route sells.',
  paid: 'The middleware of each framework is published under the same name.',
  payForResource: 'Published by the client; the operation of the agent kit has the name that models know it by.',
  PaymentStore: 'Published by the client and by the middleware, for two different stores.',
  PaymentTerms: 'Published by the agent kit and by the middleware.',
  Receipt: "Published by the agent kit; elsewhere the chain's receipt of a transaction.",
};

const DEFINITION =
  /^export (?:default )?(?:declare )?(?:abstract )?(?:async )?(?:const|let|function\*?|class|interface|type|enum) (\w+)/gm;

const filesOf = new Map();
for (const { path, text } of readProductFiles(/^(?!tools\/devnet\/).*\.(tsx?|mts|mjs)$/)) {
  const names = new Set([...text.matchAll(DEFINITION)].map(([, name]) => name));
  for (const name of names) filesOf.set(name, [...(filesOf.get(name) ?? []), path]);
}
const doubles = [...filesOf].filter(([, files]) => files.length > 1).sort(([one], [other]) => (one < other ? -1 : 1));
const unknown = doubles.filter(([name]) => !(name in ALLOWED));
const gone = Object.keys(ALLOWED).filter((name) => !doubles.some(([double]) => double === name));

for (const [name, files] of unknown) process.stdout.write(`${name} is defined in ${files.join(' and ')}.\n`);
for (const name of gone) process.stdout.write(`${name} is defined once: remove it from ${import.meta.filename}.\n`);
process.stdout.write(`${doubles.length} exported names are defined twice.\n`);
if (unknown.length > 0 || gone.length > 0) process.exitCode = 1;
