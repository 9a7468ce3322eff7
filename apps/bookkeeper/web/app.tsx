import { useEffect, useRef, useState } from 'preact/hooks';

import type { SessionView } from '../src/console/console.controller.js';
import { logOut, onSessionEnd, readSession, RequestFailed, SessionContext, toFailure } from './data/api.js';
import type { SellerFacts } from './data/format.js';
import { openStream, useLive } from './data/live.js';
import { linkTo, usePlace, type ConsolePlace } from './data/route.js';
import { BookPage } from './pages/book-page.js';
import { JobsPage } from './pages/jobs-page.js';
import { Login } from './pages/login.js';
import { NowPage } from './pages/now-page.js';
import { OwedPage } from './pages/owed-page.js';
import { PaymentView } from './pages/payment-page.js';
import { PaymentsPage } from './pages/payments-page.js';
import { WalletsPage } from './pages/wallets-page.js';
import { Failure, Reading } from './parts/parts.js';

/** By the page's name in the URL, its title. */
const PAGES = {
  now: 'Now',
  payments: 'Payments',
  owed: 'Owed',
  jobs: 'Jobs',
  wallets: 'Wallets',
  book: 'Book',
} as const;
type PageName = keyof typeof PAGES;

/** Asks for a login until there is a session, then shows the pages. */
export function App() {
  const [session, setSession] = useState<SessionView | null>(null);
  const [isAsking, setAsking] = useState(true);
  const [problem, setProblem] = useState<RequestFailed | null>(null);
  const endWith = (reason: RequestFailed | null): void => {
    setProblem(reason);
    setSession(null);
  };
  useEffect(() => {
    onSessionEnd((reason) => endWith(reason));
    readSession()
      .then(setSession)
      .catch((error: unknown) => {
        if (error instanceof RequestFailed && error.status !== 401) setProblem(error);
      })
      .finally(() => setAsking(false));
  }, []);
  if (isAsking) {
    return (
      <main>
        <p class="reading">Reading…</p>
      </main>
    );
  }
  if (session === null) return <Login problem={problem} onLogin={setSession} />;
  return (
    <SessionContext.Provider value={session}>
      <Pages session={session} onLogout={() => endWith(null)} />
    </SessionContext.Provider>
  );
}

function Pages({ session, onLogout }: { session: SessionView; onLogout: () => void }) {
  const place = usePlace();
  const [isLive, setLive] = useState(false);
  const [problem, setProblem] = useState<RequestFailed | null>(null);
  const seller = useLive('GET /operator/seller', {});
  const page: PageName = place.page in PAGES ? (place.page as PageName) : 'now';
  const main = useRef<HTMLElement>(null);
  const shown = useRef('');
  useEffect(() => openStream(setLive), []);
  useEffect(() => {
    document.title = `${place.id ?? PAGES[page]} – Tollgate console`;
    // Not at the first page: a reader begins at the top. Afterwards, at what the link led to.
    if (shown.current !== '') main.current?.focus();
    shown.current = `${page}/${place.id}`;
    setProblem(null);
  }, [page, place.id]);
  const leave = async (): Promise<void> => {
    try {
      await logOut();
      onLogout();
    } catch (error) {
      // The session is still there for whoever sits here next.
      setProblem(toFailure(error));
    }
  };
  return (
    <>
      <a class="skip" href="#main" onClick={(event) => (event.preventDefault(), main.current?.focus())}>
        Skip to the page
      </a>
      <header>
        <strong>Tollgate</strong>
        <nav aria-label="Pages">
          {Object.entries(PAGES).map(([name, title]) => (
            <a key={name} href={linkTo(name)} aria-current={name === page ? 'page' : undefined}>
              {title}
            </a>
          ))}
        </nav>
        <div class="who">
          <span role="status">{isLive ? 'live' : 'not live: reconnecting'}</span>
          <span>
            key <b>{session.name}</b>
          </span>
          <button type="button" onClick={() => void leave()}>
            Log out
          </button>
        </div>
      </header>
      <main id="main" ref={main} tabIndex={-1}>
        <Failure problem={problem} />
        <Reading of={seller} />
        {seller.data !== null && <Page name={page} place={place} seller={seller.data} />}
      </main>
    </>
  );
}

function Page({ name, place, seller }: { name: PageName; place: ConsolePlace; seller: SellerFacts }) {
  const { id, query } = place;
  switch (name) {
    case 'now':
      return <NowPage seller={seller} />;
    case 'payments':
      return id === null ? <PaymentsPage seller={seller} query={query} /> : <PaymentView id={id} seller={seller} />;
    case 'owed':
      return <OwedPage seller={seller} query={query} />;
    case 'jobs':
      return <JobsPage id={id} query={query} seller={seller} />;
    case 'wallets':
      return <WalletsPage seller={seller} />;
    case 'book':
      return <BookPage seller={seller} />;
  }
}
