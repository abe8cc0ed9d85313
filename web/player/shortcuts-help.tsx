import { Trans, useLingui } from "@lingui/react/macro";
import { Group, Kbd, Modal, Switch, Table, Text } from "@mantine/core";
import { usePlaybackState, usePlayerContext } from "./context.ts";

/** What visitors of public links can't do. */
const signedIn = [
  [["E"], "Edit line"],
  [["N"], "Comment on this moment"],
] as const;

const keys: readonly (readonly [keys: readonly string[], does: string])[] = [
  [["Space", "K"], "Play or pause"],
  [["J", "L"], "Back / forward 10 seconds"],
  [["←", "→"], "Back / forward 5 seconds"],
  [["<", ">"], "Slower / faster"],
  [["M"], "Mute / unmute"],
  [["C"], "Show / hide captions"],
  [["F"], "Full screen"],
  [["/"], "Search transcript"],
  [["↑", "↓"], "Previous / next line"],
  [["Shift", "↑", "↓"], "Select lines"],
  [["Enter"], "Play from line"],
  ...signedIn,
  [["?"], "Show shortcuts"],
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
            <Table.Tr key={text}>
              <Table.Td w={120}>
                <Group gap={6}>
                  {names.map((name) => (
                    <Kbd key={name}>{name}</Kbd>
                  ))}
                </Group>
              </Table.Td>
              <Table.Td>{text}</Table.Td>
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
