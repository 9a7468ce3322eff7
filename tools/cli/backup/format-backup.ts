import type { BackupCounts } from './backup-format.js';

export function formatCounts({ payments, answers, jobs, lanes, keys }: BackupCounts): string {
  return `${payments} payments, ${answers} stored answers, ${jobs} jobs of ${lanes} accounts, ${keys} keys in all`;
}
