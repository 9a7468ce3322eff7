// A bookkeeper that a spec kills at a crash point: see the hook.
import '../../../test/harness/stack/crash-hook.js';
import '../src/main.js';
