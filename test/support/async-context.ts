import asyncHooks, {
  AsyncLocalStorage,
  AsyncResource,
  createHook,
  executionAsyncId,
  type HookCallbacks,
} from "node:async_hooks";
import { isMainThread } from "node:worker_threads";

/**
 * Loaded before each test file: has the test runner find out by AsyncLocalStorage which test calls it or throws outside of
 * its promise. Without this, it follows every promise of the process with an async hook, which takes a third of the processor
 * time of a request. Its module takes these functions when it is loaded; other modules keep theirs.
 */
if (isMainThread) {
  const context = new AsyncLocalStorage<number>();
  let noteTest: HookCallbacks["init"];

  class TestResource extends AsyncResource {
    constructor(...[type, options]: ConstructorParameters<typeof AsyncResource>) {
      super(type, options);
      noteTest?.(this.asyncId(), type, this.triggerAsyncId(), this);
    }

    override runInAsyncScope<This, Result>(
      fn: (this: This, ...args: unknown[]) => Result,
      thisArg?: This,
      ...args: unknown[]
    ): Result {
      return super.runInAsyncScope(() => context.run(this.asyncId(), () => Reflect.apply(fn, thisArg, args)));
    }
  }

  Object.assign(asyncHooks, {
    AsyncResource: TestResource,
    executionAsyncId: () => context.getStore() ?? executionAsyncId(),
    createHook(callbacks: HookCallbacks) {
      noteTest = callbacks.init;
      return createHook({ trackPromises: false });
    },
  });
  await import("node:test");
  Object.assign(asyncHooks, { AsyncResource, executionAsyncId, createHook });
}
