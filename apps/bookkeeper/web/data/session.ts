import { createContext } from 'preact';

import type { Session } from './api.js';

/** The session of all pages but the login. */
export const SessionContext = createContext<Session>({ keyId: '', name: '', scopes: [], endsAt: '' });
