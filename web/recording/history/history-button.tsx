import { ActionIcon, Loader, Modal, Tooltip } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconHistory } from "@tabler/icons-react";
import { lazy, Suspense } from "react";
import type { Transcript } from "../../api/recording.ts";

const History = lazy(() => import("./history.tsx"));

/** Opens the list of what people changed in the transcript. */
export function HistoryButton({ transcript }: { transcript: Transcript }) {
  const [isOpen, { open, close }] = useDisclosure();
  return (
    <>
      <Tooltip label="Changes of the transcript">
        <ActionIcon
          variant="subtle"
          color="gray"
          size={34}
          aria-label="Changes of the transcript"
          aria-haspopup="dialog"
          onClick={open}
        >
          <IconHistory size={18} stroke={1.6} />
        </ActionIcon>
      </Tooltip>
      <Modal opened={isOpen} onClose={close} title="Changes of the transcript" size="lg">
        <Suspense fallback={<Loader size="sm" role="img" aria-label="Loading" />}>
          <History transcript={transcript} onClose={close} />
        </Suspense>
      </Modal>
    </>
  );
}
