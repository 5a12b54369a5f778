// SPDX-License-Identifier: Apache-2.0
// Finds the control groups of this process: /proc/self/cgroup names them, /proc/self/mountinfo says
// where they are mounted. Text in, data out, so that tests feed it anything.
#pragma once

#include <filesystem>
#include <istream>
#include <string>
#include <string_view>
#include <vector>

namespace creek::cgroup {

/// A line of /proc/self/cgroup that concerns CPU time: the v2 group, or the v1 group of controller
/// `cpu`.
struct membership {
  int version = 2;
  std::string path;  // in the hierarchy, "/a/b"
};

/// A mounted hierarchy that may limit CPU time.
struct mount {
  int version = 2;
  std::string root;   // the part of the hierarchy that is mounted, "/" if all
  std::string point;  // the folder that it is mounted at
};

std::vector<membership> parse_memberships(std::istream& in);
std::vector<mount> parse_mounts(std::istream& in);

/// Returns the folders of the group and of its ancestors as far as they are mounted, innermost
/// first. For a group outside the mounted part (a container that sees the host's path, or one that
/// was moved out of its namespace: "/../x") only the mount point itself is left.
std::vector<std::filesystem::path> folders_of(const membership& group, const mount& where);

}  // namespace creek::cgroup
