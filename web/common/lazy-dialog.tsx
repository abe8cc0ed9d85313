import { notifications } from "@mantine/notifications";
import { type ComponentType, useEffect, useState } from "react";

/**
 * A dialog whose code is loaded when it is first opened.
 * @param options.load gives the component; asked again after it failed.
 * @param options.closed what differs in the properties while it is closed. The dialog is there closed before it opens,
 * so that it knows where the focus was and gives it back.
 */
export function lazyDialog<Props extends { readonly onClose: () => void }>(options: {
  readonly load: () => Promise<ComponentType<Props>>;
  readonly isOpen: (props: Props) => boolean;
  readonly closed: Partial<Props>;
}): ComponentType<Props> {
  return function LazyDialog(props: Props) {
    const [Dialog, setDialog] = useState<ComponentType<Props> | null>(null);
    const [isThere, setThere] = useState(false);
    const isWanted = options.isOpen(props) && Dialog === null;
    const { onClose } = props;
    // biome-ignore lint/correctness/useExhaustiveDependencies: how to close differs each time it is drawn.
    useEffect(() => {
      if (!isWanted) return;
      let isGone = false;
      options.load().then(
        (loaded) => !isGone && setDialog(() => loaded),
        () => {
          if (isGone) return;
          notifications.show({
            color: "red",
            title: "This did not open",
            message: "The server can't be reached. Check the connection and try again.",
          });
          onClose();
        },
      );
      return () => {
        isGone = true;
      };
    }, [isWanted]);
    useEffect(() => setThere(Dialog !== null), [Dialog]);
    if (Dialog === null) return null;
    return <Dialog {...props} {...(isThere ? {} : options.closed)} />;
  };
}
