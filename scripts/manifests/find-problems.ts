import { findImageProblems } from './image-rules.js';
import type { Manifest } from './manifest.js';
import { findMetricProblems } from './metric-rules.js';
import { findNetworkProblems } from './network-rules.js';
import { findProbeProblems, findRightsProblems, findStopProblems } from './process-rules.js';
import { findSecretProblems } from './secret-rules.js';
import { findSelectorProblems } from './selector-rules.js';
import { findSettingProblems } from './setting-rules.js';

/** What a schema cannot know: each rule compares the manifests with what our processes are. */
export function findProblems(manifests: readonly Manifest[]): string[] {
  return [
    findProbeProblems,
    findStopProblems,
    findRightsProblems,
    findSettingProblems,
    findSecretProblems,
    findImageProblems,
    findSelectorProblems,
    findMetricProblems,
    findNetworkProblems,
  ].flatMap((find) => find(manifests));
}
