import { payTask, type PayTask } from './pay-task.js';

/** Pays once in a process of its own, which kills itself with SIGKILL at the given event, or `reading` the answer. */
interface Task extends PayTask {
  dieAt: string | null;
}

const task = JSON.parse(process.env['TASK'] ?? '') as Task;
const dieAt = (event: string) => {
  if (event === task.dieAt) process.kill(process.pid, 'SIGKILL');
};
void (async () => {
  for await (const chunk of payTask(task, dieAt)) {
    dieAt('reading');
    process.stdout.write(chunk);
  }
})();
