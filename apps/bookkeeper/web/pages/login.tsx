import type { SessionView } from '../../src/console/console.controller.js';
import { logIn, type RequestFailed } from '../data/api.js';
import { Failure } from '../parts/parts.js';
import { useWork } from '../parts/work.js';

/** Takes an API key once; from then on a cookie stands for it, which no script can read. */
export function Login(props: { problem: RequestFailed | null; onLogin: (session: SessionView) => void }) {
  const { isBusy, problem, run } = useWork(props.problem);
  const logInBy = async (form: HTMLFormElement): Promise<void> => {
    const { value } = form.elements.namedItem('key') as HTMLInputElement;
    const session = await logIn(value.trim());
    form.reset();
    props.onLogin(session);
  };
  return (
    <main class="login">
      <h1>Tollgate console</h1>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const form = event.currentTarget;
          void run(() => logInBy(form));
        }}
      >
        <label for="key">API key</label>
        <input id="key" name="key" type="password" autocomplete="current-password" spellcheck={false} required />
        <Failure problem={problem} />
        <button type="submit" class="main" disabled={isBusy}>
          {isBusy ? 'Checking…' : 'Log in'}
        </button>
      </form>
      <p class="hint">
        The key needs the scope <code>operator:read</code>; a write needs its own. To create one:
      </p>
      <pre tabIndex={0}>
        tollgate keys create --name console --scope operator:read,operator:approve,operator:wallets,operator:refund
      </pre>
      <p class="hint">
        The key is sent once and not kept here. The session ends after 12 hours, or when the key is revoked.
      </p>
    </main>
  );
}
