import { find } from './dom.js';
import type { PageData } from './page-data.js';
import { PayView } from './pay-view.js';
import { showTicket } from './ticket-view.js';

const data = JSON.parse(find('page-data').textContent ?? '') as PageData;
if (data.kind === 'pay') new PayView(data).start();
else showTicket(data);
