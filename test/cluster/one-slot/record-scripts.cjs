// Notes the texts of the scripts that the tests run, and the words they are called with: a lane's program is one script
// for all transitions, which are among the words. Scripts of child processes are not noted.
const { appendFileSync } = require('node:fs');
const { createHash } = require('node:crypto');
const { join } = require('node:path');
const { Redis } = require('ioredis');

const WORD = /^[a-zA-Z]{2,30}$/;
const record = join(process.env.TOLLGATE_TEST_ONE_SLOT_ONLY, `${process.pid}.jsonl`);
const noted = new Set();
const texts = new Map();

function note(line) {
  if (noted.has(line)) return;
  noted.add(line);
  appendFileSync(record, `${line}\n`);
}

const { sendCommand } = Redis.prototype;
// The modules are shared by the files of a worker, so only the first one finds the method as it was.
if (sendCommand.name !== 'recordCommand') {
  Redis.prototype.sendCommand = function recordCommand(command, ...others) {
    const [first, ...args] = command.args.map(String);
    if (/^load$/i.test(first)) texts.set(createHash('sha1').update(args[0]).digest('hex'), args[0]);
    const name = command.name.toLowerCase();
    if (name === 'eval' || name === 'evalsha') {
      const text = name === 'eval' ? first : texts.get(first);
      if (text !== undefined) note(JSON.stringify({ text }));
      for (const word of args) if (WORD.test(word)) note(JSON.stringify({ word }));
    }
    return sendCommand.call(this, command, ...others);
  };
}
