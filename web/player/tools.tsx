import { useLingui } from "@lingui/react/macro";
import { ActionIcon, Group, Menu, Popover, Slider, Text, Tooltip } from "@mantine/core";
import { IconCheck, IconVolume, IconVolume2, IconVolumeOff } from "@tabler/icons-react";
import { type ReactNode, useState } from "react";
import { number, percent } from "../common/format/numbers.ts";
import { rates } from "./preferences.ts";

/** A button with a tooltip that names its keyboard shortcut. */
export function Tool(props: {
  label: string;
  keys?: string;
  isMain?: boolean;
  onClick: () => void;
  children: ReactNode;
}) {
  const { label, keys, isMain = false, onClick, children } = props;
  return (
    <Tooltip withinPortal={false} label={keys === undefined ? label : `${label} (${keys})`} openDelay={400}>
      <ActionIcon
        variant={isMain ? "filled" : "subtle"}
        {...(isMain ? {} : { color: "gray" })}
        radius={isMain ? "xl" : "md"}
        size={isMain ? 40 : 36}
        aria-label={label}
        onClick={onClick}
      >
        {children}
      </ActionIcon>
    </Tooltip>
  );
}

/** Escape closes the popover alone, not the dialog around it. */
const keepsDialog = { "data-mantine-stop-propagation": "true" };

/** Volume and mute. */
export function VolumeControl(props: {
  /** 0 to 1. */
  volume: number;
  isMuted: boolean;
  onVolume: (volume: number) => void;
  onToggleMute: () => void;
}) {
  const { t } = useLingui();
  const { volume, isMuted, onVolume, onToggleMute } = props;
  const [isOpen, setOpen] = useState(false);
  const Icon = isMuted ? IconVolumeOff : volume < 0.5 ? IconVolume2 : IconVolume;
  return (
    <Popover opened={isOpen} onChange={setOpen} position="top" trapFocus returnFocus withinPortal={false}>
      <Popover.Target>
        <ActionIcon
          variant="subtle"
          color="gray"
          size={36}
          aria-label={isMuted ? t`Volume, muted` : t`Volume`}
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          <Icon size={20} stroke={1.6} />
        </ActionIcon>
      </Popover.Target>
      <Popover.Dropdown>
        <Group gap="xs" wrap="nowrap" w={190}>
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={isMuted ? t`Unmute` : t`Mute`}
            {...keepsDialog}
            onClick={onToggleMute}
          >
            <Icon size={20} stroke={1.6} />
          </ActionIcon>
          <Slider
            flex={1}
            min={0}
            max={100}
            step={5}
            label={null}
            value={isMuted ? 0 : Math.round(volume * 100)}
            onChange={(value) => onVolume(value / 100)}
            thumbLabel={t`Volume`}
            thumbValueText={(value) => percent(value / 100)}
            thumbProps={{ role: "slider", ...keepsDialog }}
            data-autofocus
          />
        </Group>
      </Popover.Dropdown>
    </Popover>
  );
}

/** The playback rates. @param keys that change the rate. */
export function SpeedMenu(props: {
  rate: number;
  keys?: string;
  onRate: (rate: number) => void;
  children?: ReactNode;
}) {
  const { t } = useLingui();
  const { rate, keys, onRate, children } = props;
  return (
    <Menu position="top-end" width={160} withinPortal={false}>
      <Menu.Target>
        <Tooltip
          withinPortal={false}
          label={keys === undefined ? t`Speed` : t`Speed (${keys})`}
          openDelay={400}
        >
          <ActionIcon
            variant="subtle"
            color="gray"
            h={36}
            w={52}
            aria-label={t`${{ rate: number(rate) }}× speed`}
          >
            <Text span size="sm" fw={600}>
              {number(rate)}×
            </Text>
          </ActionIcon>
        </Tooltip>
      </Menu.Target>
      <Menu.Dropdown>
        {rates.map((choice) => (
          <Menu.Item
            key={choice}
            aria-current={choice === rate ? "true" : undefined}
            rightSection={choice === rate ? <IconCheck size={16} aria-hidden /> : null}
            onClick={() => onRate(choice)}
          >
            {number(choice)}×
          </Menu.Item>
        ))}
        {children}
      </Menu.Dropdown>
    </Menu>
  );
}
