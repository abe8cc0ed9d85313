import { msg } from "@lingui/core/macro";
import { Trans, useLingui } from "@lingui/react/macro";
import { Menu, UnstyledButton } from "@mantine/core";
import {
  IconDots,
  IconHighlight,
  IconPlayerRecord,
  IconPlus,
  IconSearch,
  IconUpload,
  IconVideo,
} from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { useOpenRecorder } from "../recorder/context.tsx";
import { isActive, navItems } from "./nav-items.ts";

const tabs = [
  { to: "/", label: msg`Library`, icon: IconVideo },
  { to: "/search", label: msg`Search`, icon: IconSearch },
] as const;

const shown: readonly string[] = ["/", "/highlights"];
const others = navItems.filter(({ to }) => !shown.includes(to));

/** The navigation of phones, in reach of the thumb. Viewers can't create recordings. */
export function BottomNav({ path, isViewer }: { path: string; isViewer: boolean }) {
  const { t } = useLingui();
  const record = useOpenRecorder();
  const isOther = others.some(({ to }) => isActive(to, path));
  return (
    <nav className="bottom-nav" aria-label={t`Main`}>
      {tabs.map(({ to, label, icon: Icon }) => (
        <Link key={to} to={to} data-active={isActive(to, path) || undefined}>
          <Icon size={22} stroke={1.6} aria-hidden />
          {t(label)}
        </Link>
      ))}
      {isViewer ? null : (
        <Menu position="top" width={190}>
          <Menu.Target>
            <UnstyledButton>
              <IconPlus size={22} stroke={1.6} aria-hidden />
              <Trans>New</Trans>
            </UnstyledButton>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item leftSection={<IconPlayerRecord size={18} />} onClick={() => record()}>
              <Trans context="verb">Record</Trans>
            </Menu.Item>
            <Menu.Item component={Link} to="/uploads" leftSection={<IconUpload size={18} />}>
              <Trans>Upload</Trans>
            </Menu.Item>
          </Menu.Dropdown>
        </Menu>
      )}
      <Link to="/highlights" data-active={isActive("/highlights", path) || undefined}>
        <IconHighlight size={22} stroke={1.6} aria-hidden />
        <Trans>Highlights</Trans>
      </Link>
      <Menu position="top-end" width={190}>
        <Menu.Target>
          <UnstyledButton data-active={isOther || undefined}>
            <IconDots size={22} stroke={1.6} aria-hidden />
            <Trans>More</Trans>
          </UnstyledButton>
        </Menu.Target>
        <Menu.Dropdown>
          {others.map(({ to, label, icon: Icon }) => (
            <Menu.Item key={to} component={Link} to={to} leftSection={<Icon size={18} />}>
              {t(label)}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
    </nav>
  );
}
