import { render } from 'preact';

render(<p>Tollgate</p>, document.getElementById('console')!);
