/** Writes `.env.example` and the tables of `docs/settings.md` from the environment classes; `--check` only compares. */
import 'reflect-metadata';
import { join } from 'node:path';

import { listSettings, type SettingDescription } from '@tollgate/config';

import { PROCESSES } from '../manifests/processes.js';
import { fillIn, ROOT, writeGenerated } from './generated-files.js';

interface Documented {
  setting: SettingDescription;
  services: string[];
}

/** Each name once, with the services that read it; a setting shared by several comes first. */
function collect(): Documented[] {
  const byName = new Map<string, Documented>();
  for (const [service, { environment }] of PROCESSES) {
    for (const setting of listSettings(environment)) {
      const known = byName.get(setting.name);
      if (known === undefined) {
        byName.set(setting.name, { setting, services: [service] });
        continue;
      }
      if (known.setting.defaultText !== setting.defaultText) {
        throw new Error(`${setting.name} has two defaults: ${known.setting.defaultText} and ${setting.defaultText}.`);
      }
      if (!known.services.includes(service)) known.services.push(service);
    }
  }
  return [...byName.values()].sort((a, b) => b.services.length - a.services.length);
}

function createEnvExample(documented: Documented[]): string {
  const lines = [
    '# Every setting of every service, with its default or, where its comment says so, an example. Lines without # must be filled in. A bookkeeper also needs BOOK_SIGNING_KEY.\n# A secret may be given as a file instead: NAME_FILE=/path/to/it in place of NAME.',
  ];
  for (const [section, members] of groupBySection(documented)) {
    lines.push('', `# --- ${section} ---`);
    for (const { setting, services } of members) {
      const value = setting.defaultText ?? (setting.required ? '' : (setting.example ?? ''));
      const example = setting.defaultText === undefined && setting.example !== undefined;
      lines.push('', `# ${setting.help}${example ? ` For example ${setting.example}` : ''}`);
      // Most who copy the file run no bookkeeper.
      const mustBeFilledIn = setting.required && services.some((service) => service !== 'bookkeeper');
      lines.push(`${mustBeFilledIn ? '' : '# '}${setting.name}=${value}`);
    }
  }
  return `${lines.join('\n')}\n`;
}

function createTables(documented: Documented[]): string {
  return [...groupBySection(documented)]
    .map(([section, members]) => {
      const rows = members.map(({ setting }) => {
        const value = setting.required
          ? 'required'
          : setting.defaultText === undefined
            ? ''
            : code(setting.defaultText);
        return `| ${code(setting.name)} | ${value} | ${escape(setting.help)}${setting.secret ? ' Secret.' : ''} |`;
      });
      return [`### ${section}`, '', '| setting | default | meaning |', '| --- | --- | --- |', ...rows].join('\n');
    })
    .join('\n\n');
}

function groupBySection(documented: Documented[]): Map<string, Documented[]> {
  const sections = new Map<string, Documented[]>();
  for (const entry of documented) {
    const section = entry.services.join(', ');
    sections.set(section, [...(sections.get(section) ?? []), entry]);
  }
  return sections;
}

function code(text: string): string {
  return text === '' ? '' : `\`${escape(text)}\``;
}

function escape(text: string): string {
  return text.replaceAll('|', '\\|');
}

const documented = collect();
const page = join(ROOT, 'docs/settings.md');
writeGenerated(
  {
    [join(ROOT, '.env.example')]: createEnvExample(documented),
    [page]: fillIn(page, 'settings', createTables(documented)),
  },
  'docs:settings',
);
