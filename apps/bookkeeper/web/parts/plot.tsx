import { useEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';

export interface Series {
  readonly name: string;
  /** A custom property of the style: `--good`. */
  readonly colour: string;
  readonly values: readonly (number | null)[];
}

interface PlotProps {
  readonly title: string;
  /** Seconds since 1970. */
  readonly times: readonly number[];
  readonly series: readonly Series[];
}

const HEIGHT = 200;

/** Lines over time, for eyes; a sentence says the same for screen readers. */
export function Plot({ title, times, series }: PlotProps) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const isDark = useDark();
  useEffect(() => {
    const element = place.current;
    if (element === null) return undefined;
    const made = createPlot(element, series);
    plot.current = made;
    const resized = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height: HEIGHT }));
    resized.observe(element);
    return () => {
      resized.disconnect();
      made.destroy();
    };
  }, [isDark]);
  useEffect(() => {
    plot.current?.setData([[...times], ...series.map(({ values }) => [...values])]);
  }, [isDark, times, series]);
  return (
    <figure>
      <figcaption>
        {title}
        <span class="hidden">{describe(series)}</span>
      </figcaption>
      <div ref={place} class="plot" aria-hidden="true" />
    </figure>
  );
}

function createPlot(element: HTMLElement, series: readonly Series[]): uPlot {
  const style = getComputedStyle(document.documentElement);
  const colourOf = (name: string): string => style.getPropertyValue(name).trim();
  const line = { stroke: colourOf('--line'), width: 1 };
  const axis = { stroke: colourOf('--dim'), grid: line, ticks: line };
  return new uPlot(
    {
      width: element.clientWidth,
      height: HEIGHT,
      cursor: { y: false },
      axes: [
        axis,
        { ...axis, size: 64, values: (_plot, ticks) => ticks.map((tick) => String(Number(tick.toPrecision(6)))) },
      ],
      scales: { y: { range: (_plot, _least, most) => [0, most > 0 ? most * 1.1 : 1] } },
      series: [
        { label: 'Time' },
        ...series.map(({ name, colour }) => ({
          label: name,
          stroke: colourOf(colour),
          width: 2,
          points: { show: true, filter: findLone },
        })),
      ],
    },
    [[], ...series.map(() => [])],
    element,
  );
}

/** A value without a neighbour makes no line, so it is drawn as a point. */
function findLone({ data }: uPlot, at: number): number[] {
  const isThere = (index: number): boolean => typeof data[at]?.[index] === 'number';
  return [...(data[at] ?? []).keys()].filter((index) => isThere(index) && !isThere(index - 1) && !isThere(index + 1));
}

/** Whether the colours are those of a dark page; the canvas does not follow the style by itself. */
function useDark(): boolean {
  const [isDark, setDark] = useState(() => matchMedia('(prefers-color-scheme: dark)').matches);
  useEffect(() => {
    const media = matchMedia('(prefers-color-scheme: dark)');
    const follow = (): void => setDark(media.matches);
    media.addEventListener('change', follow);
    return () => media.removeEventListener('change', follow);
  }, []);
  return isDark;
}

function describe(series: readonly Series[]): string {
  const parts = series.map(({ name, values }) => {
    const known = values.filter((value) => value !== null);
    return known.length === 0 ? `${name}: none` : `${name}: ${known.at(-1)} now, ${Math.max(...known)} at most`;
  });
  return `. ${parts.join('; ')}.`;
}
