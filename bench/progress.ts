export interface Progress {
  show: (text: string) => void;
  clear: () => void;
}

/** One line that is written over on a terminal; a line each elsewhere. */
export function createProgress(stream: NodeJS.WriteStream): Progress {
  if (!stream.isTTY) return { show: (text) => void stream.write(`${text}\n`), clear: () => undefined };
  const overwrite = (text: string) => void stream.write(`\r\u001b[K${text.slice(0, stream.columns - 1)}`);
  return { show: overwrite, clear: () => overwrite('') };
}
