export { signAgentJobMessage, type EnqueueKey } from './sign-agent-job-message.js';
