import { SegmentedControl, useMantineColorScheme } from "@mantine/core";
import { Panel } from "../parts.tsx";

/** The color scheme: light, dark or the system's. */
export function AppearanceForm() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (
    <Panel>
      <SegmentedControl
        aria-label="Appearance"
        value={colorScheme}
        onChange={(value) => setColorScheme(value)}
        data={[
          { value: "light", label: "Light" },
          { value: "dark", label: "Dark" },
          { value: "auto", label: "System" },
        ]}
      />
    </Panel>
  );
}
