import { SegmentedControl, useMantineColorScheme } from "@mantine/core";
import { Panel } from "./parts.tsx";

/** Light, dark, or as the computer has it. */
export function ColoursForm() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (
    <Panel>
      <SegmentedControl
        aria-label="Colours"
        value={colorScheme}
        onChange={(value) => setColorScheme(value)}
        data={[
          { value: "light", label: "Light" },
          { value: "dark", label: "Dark" },
          { value: "auto", label: "As this device" },
        ]}
      />
    </Panel>
  );
}
