import { createTroubleLog, FacilitatorError } from './facilitator.js';

describe('the default log of a gate', () => {
  it('has each kind of refusal once a minute, and every other error each time', () => {
    const lines: string[] = [];
    let nowMs = 5;
    const log = createTroubleLog(
      (line) => lines.push(line),
      () => nowMs,
    );
    const meet = () => {
      for (const status of [401, 404, 500, null]) log(new FacilitatorError(String(status), status));
      log(new Error('store'));
    };
    meet();
    expect(lines.splice(0)).toEqual(['401', '404', '500', 'null', 'store']);
    nowMs += 59_999;
    meet();
    expect(lines.splice(0)).toEqual(['500', 'null', 'store']);
    nowMs += 1;
    meet();
    expect(lines).toEqual(['401', '404', '500', 'null', 'store']);
  });
});
