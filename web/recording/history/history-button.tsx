import { useLingui } from "@lingui/react/macro";
import { ActionIcon, Modal, Tooltip } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconHistory } from "@tabler/icons-react";
import type { Transcript } from "../../api/recording/recording.ts";
import { lazyPart } from "../../common/load-part.tsx";

const History = lazyPart(async () => (await import("./history.tsx")).default);

/** Opens the transcript's edit history. */
export function HistoryButton({ transcript }: { transcript: Transcript }) {
  const { t } = useLingui();
  const [isOpen, { open, close }] = useDisclosure();
  return (
    <>
      <Tooltip label={t`Edit history`}>
        <ActionIcon
          variant="subtle"
          color="gray"
          size={34}
          aria-label={t`Edit history`}
          aria-haspopup="dialog"
          onClick={open}
        >
          <IconHistory size={18} stroke={1.6} />
        </ActionIcon>
      </Tooltip>
      <Modal opened={isOpen} onClose={close} title={t`Edit history`} size="lg">
        <History transcript={transcript} onClose={close} />
      </Modal>
    </>
  );
}
