import { Trans, useLingui } from "@lingui/react/macro";
import { notifications } from "@mantine/notifications";
import { type ComponentType, useEffect, useState } from "react";
import { ReloadButton } from "../states.tsx";

function NotLoaded() {
  return (
    <>
      <Trans>You may be offline, or Parley was updated. Reload the page.</Trans> <ReloadButton />
    </>
  );
}

/**
 * A dialog whose code is loaded when first opened.
 * @param options.load loads the component; called again after a failure.
 * @param options.closed properties of the closed dialog. It is mounted closed before it opens, so that it can restore focus.
 */
export function lazyDialog<Props extends { readonly onClose: () => void }>(options: {
  readonly load: () => Promise<ComponentType<Props>>;
  readonly isOpen: (props: Props) => boolean;
  readonly closed: Partial<Props>;
}): ComponentType<Props> {
  return function LazyDialog(props: Props) {
    const { t } = useLingui();
    const [Dialog, setDialog] = useState<ComponentType<Props> | null>(null);
    const [isMounted, setMounted] = useState(false);
    const isWanted = options.isOpen(props) && Dialog === null;
    const { onClose } = props;
    // biome-ignore lint/correctness/useExhaustiveDependencies: onClose is a new function on each render.
    useEffect(() => {
      if (!isWanted) return;
      let isGone = false;
      options.load().then(
        (loaded) => !isGone && setDialog(() => loaded),
        () => {
          if (isGone) return;
          notifications.show({
            color: "red",
            title: t`Couldn't open`,
            message: <NotLoaded />,
          });
          onClose();
        },
      );
      return () => {
        isGone = true;
      };
    }, [isWanted]);
    useEffect(() => setMounted(Dialog !== null), [Dialog]);
    if (Dialog === null) return null;
    return <Dialog {...props} {...(isMounted ? {} : options.closed)} />;
  };
}
