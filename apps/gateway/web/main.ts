import { find } from './document/dom.js';
import type { PageData } from './page-data.js';
import { PayView } from './pay-view.js';
import { TicketView } from './ticket-view.js';

const data = JSON.parse(find('page-data').textContent ?? '') as PageData;
if (data.kind === 'pay') new PayView(data).start();
else new TicketView(data).start();
