import { useLingui } from "@lingui/react/macro";
import { Loader } from "@mantine/core";
import { type ComponentType, type ReactNode, useEffect, useState } from "react";
import { ErrorState } from "./states.tsx";

/** A part of the app's code failed to load: the browser is offline, or the server was updated. */
export class PartNotLoadedError extends Error {
  override readonly name = "PartNotLoadedError";
}

/** Loads code on demand. @throws PartNotLoadedError in place of the browser's own error. */
export function loadPart<T>(load: () => Promise<T>): () => Promise<T> {
  return async () => {
    try {
      return await load();
    } catch (cause) {
      throw new PartNotLoadedError("a part of the app could not be loaded", { cause });
    }
  };
}

function Loading() {
  const { t } = useLingui();
  return <Loader size="sm" role="img" aria-label={t`Loading`} />;
}

const lateMs = 2000;

/** A part that must not delay its page: loaded once the page has had time to appear. On failure nothing is shown. */
export function latePart<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
): ComponentType<Props> {
  return lazyPart(() => new Promise((resolve) => setTimeout(resolve, lateMs)).then(load), null);
}

/**
 * A component whose code is loaded when first shown. On failure it offers a reload.
 * @param placeholder shown meanwhile; null: nothing, also on failure.
 */
export function lazyPart<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  placeholder: ReactNode = <Loading />,
): ComponentType<Props> {
  const loadSafely = loadPart(load);
  let loaded: ComponentType<Props> | null = null;
  return function LazyPart(props: Props) {
    const [Part, setPart] = useState<ComponentType<Props> | null>(() => loaded);
    const [error, setError] = useState<unknown>(null);
    useEffect(() => {
      if (Part !== null || error !== null) return;
      let isGone = false;
      loadSafely().then(
        (component) => {
          loaded = component;
          if (!isGone) setPart(() => component);
        },
        (failure) => !isGone && setError(failure),
      );
      return () => {
        isGone = true;
      };
    }, [Part, error]);
    if (Part !== null) return <Part {...props} />;
    if (placeholder === null) return null;
    if (error !== null) return <ErrorState error={error} />;
    return placeholder;
  };
}
