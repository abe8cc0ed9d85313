import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import { Trans, useLingui } from "@lingui/react/macro";
import { Group, Kbd, Modal, Switch, Table, Text } from "@mantine/core";
import { usePlaybackState, usePlayerContext } from "./context.ts";

/** What visitors of public links can't do. */
const signedIn = [
  [["E"], msg`Edit line`],
  [["N"], msg`Comment on this moment`],
] as const;

const keys: readonly (readonly [keys: readonly string[], does: MessageDescriptor])[] = [
  [["Space", "K"], msg`Play or pause`],
  [["J", "L"], msg`Back / forward 10 seconds`],
  [["←", "→"], msg`Back / forward 5 seconds`],
  [["<", ">"], msg`Slower / faster`],
  [["M"], msg`Mute / unmute`],
  [["C"], msg`Show / hide captions`],
  [["F"], msg`Full screen`],
  [["/"], msg`Search transcript`],
  [["↑", "↓"], msg`Previous / next line`],
  [["Shift", "↑", "↓"], msg`Select lines`],
  [["Enter"], msg`Play from line`],
  ...signedIn,
  [["?"], msg`Show shortcuts`],
];

/** Lists the keyboard shortcuts, with the switch that turns them off (WCAG 2.1.4). */
export function ShortcutsHelp(props: { isOpen: boolean; onClose: () => void; isReadOnly?: boolean }) {
  const { t } = useLingui();
  const { isOpen, onClose, isReadOnly = false } = props;
  const { playback } = usePlayerContext();
  const hasShortcuts = usePlaybackState((state) => state.hasShortcuts);
  const shown = isReadOnly ? keys.filter((key) => !signedIn.some((one) => one === key)) : keys;
  return (
    <Modal opened={isOpen} onClose={onClose} title={t`Keyboard shortcuts`}>
      <Table verticalSpacing={6} withRowBorders={false}>
        <Table.Tbody>
          {shown.map(([names, text]) => (
            <Table.Tr key={names.join(" ")}>
              <Table.Td w={120}>
                <Group gap={6}>
                  {names.map((name) => (
                    <Kbd key={name}>{name}</Kbd>
                  ))}
                </Group>
              </Table.Td>
              <Table.Td>{t(text)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      <Switch
        mt="md"
        label={t`Enable shortcuts`}
        description={t`When off, only ? works. Saved on this device.`}
        checked={hasShortcuts}
        onChange={(event) => playback.setShortcuts(event.currentTarget.checked)}
      />
      <Text size="sm" c="dimmed" mt="md">
        <Trans>Shortcuts are off while you type.</Trans>
      </Text>
    </Modal>
  );
}
