import { Group, Kbd, Modal, Switch, Table, Text } from "@mantine/core";
import { usePlaybackState, useWatching } from "../watching.ts";

const editing = "Edit the line";

const keys: readonly (readonly [keys: readonly string[], does: string])[] = [
  [["Space", "K"], "Play or pause"],
  [["J", "L"], "10 seconds back, on"],
  [["←", "→"], "5 seconds back, on"],
  [["<", ">"], "Slower, faster"],
  [["M"], "Sound off or on"],
  [["C"], "Captions"],
  [["F"], "Full screen"],
  [["/"], "Search in the transcript"],
  [["↑", "↓"], "From line to line, in the transcript"],
  [["Shift", "↑", "↓"], "Select lines, to clip or copy them"],
  [["Enter"], "Play from the line"],
  [["E"], editing],
  [["?"], "This help"],
];

/** What the keys do, and the switch that turns them off (WCAG 2.1.4). */
export function KeysHelp(props: { isOpen: boolean; onClose: () => void; isReadOnly?: boolean }) {
  const { isOpen, onClose, isReadOnly = false } = props;
  const { playback } = useWatching();
  const hasKeys = usePlaybackState((state) => state.hasKeys);
  const shown = isReadOnly ? keys.filter(([, text]) => text !== editing) : keys;
  return (
    <Modal opened={isOpen} onClose={onClose} title="Keys">
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
        label="Use these keys"
        description="Off, only ? opens this help. Kept on this device."
        checked={hasKeys}
        onChange={(event) => playback.setKeys(event.currentTarget.checked)}
      />
      <Text size="sm" c="dimmed" mt="md">
        In a field, keys write.
      </Text>
    </Modal>
  );
}
