import { payTask, type PayingTask } from './pay-task.js';

/** Pays once in a process of its own. */
const task = JSON.parse(process.env['TASK'] ?? '') as PayingTask;
const dieAt = (event: string) => {
  if (event === task.dieAt) process.kill(process.pid, 'SIGKILL');
};
if (task.hidesFiles) Reflect.deleteProperty(process, 'getBuiltinModule');
void (async () => {
  for await (const chunk of payTask(task, dieAt)) {
    dieAt('reading');
    process.stdout.write(chunk);
  }
})();
