import type { Profiler, Runtime } from 'node:inspector';

/** A function with its callers, and the time spent in it and in what it called. */
interface Frame {
  name: string;
  ms: number;
  callees: Map<string, Frame>;
}

const WIDTH = 1200;
const LINE = 17;
const TOP = 40;
/** Narrower frames are left out: those of less than 0.3 % of the processor time. */
const LEAST_WIDTH = 0.003 * WIDTH;
const LETTER_WIDTH = 6.6;
/** Time in which V8 ran nothing. */
const IDLE = new Set(['(idle)', '(root)']);

/** The processor time of a profile in milliseconds, without idle time. */
export function busyMs(profile: Profiler.Profile): number {
  return foldProfile(profile).ms;
}

/** A flame graph as SVG: callers below their callees, widths as shares of the processor time, names in tooltips. */
export function drawFlameGraph(title: string, profile: Profiler.Profile): string {
  const root = foldProfile(profile);
  const depth = depthOf(root, root.ms);
  const height = TOP + (depth + 1) * LINE;
  const boxes: string[] = [];
  const draw = (frame: Frame, left: number, level: number): void => {
    const width = (frame.ms / root.ms) * WIDTH;
    if (width < LEAST_WIDTH) return;
    boxes.push(drawFrame(frame, { left, width, top: height - (level + 1) * LINE, share: frame.ms / root.ms }));
    let next = left;
    for (const callee of [...frame.callees.values()].sort((a, b) => b.ms - a.ms)) {
      draw(callee, next, level + 1);
      next += (callee.ms / root.ms) * WIDTH;
    }
  };
  draw(root, 0, 0);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="monospace" font-size="11">`,
    `<rect width="100%" height="100%" fill="#fff"/><text x="8" y="22" font-size="14">${escapeXml(title)}</text>`,
    ...boxes,
    '</svg>\n',
  ].join('\n');
}

function drawFrame(
  { name, ms }: Frame,
  { left, width, top, share }: { left: number; width: number; top: number; share: number },
): string {
  const letters = Math.floor((width - 4) / LETTER_WIDTH);
  const text =
    letters < 3 ? '' : `<text x="${(left + 2).toFixed(0)}" y="${top + 12}">${escapeXml(name.slice(0, letters))}</text>`;
  const box = `<path fill="${colourOf(name)}" d="M${left.toFixed(1)} ${top}h${width.toFixed(1)}v${LINE - 1}h-${width.toFixed(1)}"/>`;
  return `<g><title>${escapeXml(name)}: ${ms.toFixed(0)} ms, ${(share * 100).toFixed(1)} %</title>${box}${text}</g>`;
}

/** Calls of the same function by the same callers become one frame. */
function foldProfile({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile): Frame {
  const selfMs = new Map<number, number>();
  samples.forEach((id, index) => selfMs.set(id, (selfMs.get(id) ?? 0) + (timeDeltas[index] ?? 0) / 1000));
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const fold = (id: number, into: Frame): number => {
    const node = byId.get(id);
    if (!node || node.callFrame.functionName === '(idle)') return 0;
    const name = nameOf(node.callFrame);
    const frame = IDLE.has(name)
      ? into
      : (into.callees.get(name) ?? { name, ms: 0, callees: new Map<string, Frame>() });
    if (frame !== into) into.callees.set(name, frame);
    const ms = (node.children ?? []).reduce((sum, child) => sum + fold(child, frame), selfMs.get(id) ?? 0);
    if (frame !== into) frame.ms += ms;
    return ms;
  };
  const root: Frame = { name: 'all', ms: 0, callees: new Map() };
  root.ms = nodes[0] ? fold(nodes[0].id, root) : 0;
  return root;
}

function nameOf({ functionName, url, lineNumber }: Runtime.CallFrame): string {
  const name = functionName === '' ? '(anonymous)' : functionName;
  const file = url.split('/').slice(-2).join('/');
  return file === '' ? name : `${name} ${file}:${lineNumber + 1}`;
}

function depthOf(frame: Frame, wholeMs: number): number {
  if ((frame.ms / wholeMs) * WIDTH < LEAST_WIDTH) return 0;
  return 1 + Math.max(0, ...[...frame.callees.values()].map((callee) => depthOf(callee, wholeMs)));
}

/** Node's own code blue, packages yellow, ours red, V8's own work grey. */
function colourOf(name: string): string {
  if (name.startsWith('(') && !name.includes(' ')) return '#bbb';
  if (name.includes('node:') || name.includes('internal/')) return '#9ecae1';
  return name.includes('packages.cjs') || name.includes('node_modules') ? '#fdd870' : '#f4976c';
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
