import { useLingui } from "@lingui/react/macro";
import { SegmentedControl, useMantineColorScheme } from "@mantine/core";
import { Panel } from "../parts.tsx";

/** The color scheme: light, dark or the system's. */
export function AppearanceForm() {
  const { t } = useLingui();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (
    <Panel>
      <SegmentedControl
        aria-label={t`Appearance`}
        value={colorScheme}
        onChange={(value) => setColorScheme(value)}
        data={[
          { value: "light", label: t({ context: "color scheme", message: "Light" }) },
          { value: "dark", label: t({ context: "color scheme", message: "Dark" }) },
          { value: "auto", label: t({ context: "color scheme", message: "System" }) },
        ]}
      />
    </Panel>
  );
}
