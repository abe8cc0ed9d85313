import type { ObjectStore } from "../store.ts";
import { testAppends } from "./conformance-append.ts";
import { testObjects } from "./conformance-objects.ts";
import { testPuts } from "./conformance-put.ts";

/**
 * Registers the guarantees that every object store must give.
 * @param openedStore returns the store under test; called in each test, which may fill it.
 */
export function testObjectStore(openedStore: () => ObjectStore): void {
  testPuts(openedStore);
  testObjects(openedStore);
  testAppends(openedStore);
}
