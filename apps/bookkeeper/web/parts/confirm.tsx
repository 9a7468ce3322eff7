import type { ComponentChildren } from 'preact';
import { useContext, useLayoutEffect, useRef, useState } from 'preact/hooks';

import { SessionContext } from '../data/api.js';
import { Failure } from './parts.js';
import { useWork } from './work.js';

interface WriteProps {
  /** Of the button, and of the question: `Approve this plan`. */
  readonly act: string;
  /** What it does, exactly. */
  readonly children: ComponentChildren;
  readonly scope: string;
  readonly run: () => Promise<unknown>;
  /** After it was done. */
  readonly onDone?: () => void;
  readonly isMain?: boolean;
}

/** A button that writes: it asks again first, and says why it failed. Off where the key has not the scope. */
export function WriteButton({ act, children, scope, run, onDone, isMain = false }: WriteProps) {
  const { scopes } = useContext(SessionContext);
  const [isAsked, setAsked] = useState(false);
  // Another act, since someone else has done this one, is another question.
  useLayoutEffect(() => setAsked(false), [act]);
  if (!scopes.includes(scope)) {
    return (
      <span class="missing-scope">
        {act}: needs an API key with the scope <code>{scope}</code>.
      </span>
    );
  }
  return (
    <>
      <button type="button" class={isMain ? 'main' : ''} onClick={() => setAsked(true)}>
        {act}
      </button>
      {isAsked && (
        <Confirm act={act} run={run} onDone={onDone} onClose={() => setAsked(false)}>
          {children}
        </Confirm>
      )}
    </>
  );
}

interface ConfirmProps extends Pick<WriteProps, 'act' | 'children' | 'run'> {
  readonly onDone: (() => void) | undefined;
  readonly onClose: () => void;
}

function Confirm({ act, children, run, onDone, onClose }: ConfirmProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const work = useWork();
  useLayoutEffect(() => {
    const element = dialog.current;
    element?.showModal();
    // Before it is removed: only then does the browser give the focus back to the button.
    return () => element?.close();
  }, []);
  const doIt = async (): Promise<void> => {
    await run();
    onClose();
    onDone?.();
  };
  return (
    <dialog ref={dialog} aria-labelledby="confirm" onClose={onClose}>
      <h2 id="confirm">{act}?</h2>
      {children}
      <p class="hint">It is recorded with the name of your API key.</p>
      <Failure problem={work.problem} />
      <div class="buttons">
        <button type="button" disabled={work.isBusy} onClick={onClose}>
          No, go back
        </button>
        <button type="button" class="main" disabled={work.isBusy} onClick={() => void work.run(doIt)}>
          {work.isBusy ? 'Working…' : `Yes: ${act.toLowerCase()}`}
        </button>
      </div>
    </dialog>
  );
}
