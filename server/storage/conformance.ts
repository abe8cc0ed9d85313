import { testAppends } from "./conformance-append.ts";
import { testObjects } from "./conformance-objects.ts";
import { testPuts } from "./conformance-put.ts";
import type { ObjectStore } from "./store.ts";

/**
 * Registers what every object store must keep to, whatever it stands on.
 * @param openedStore gives the store under test; asked for in each test, and free for all of them to fill.
 */
export function testObjectStore(openedStore: () => ObjectStore): void {
  testPuts(openedStore);
  testObjects(openedStore);
  testAppends(openedStore);
}
