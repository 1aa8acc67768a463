// Writes JSON documents as text. cli/schemas describes the documents that commands print.
#ifndef QUADRILLE_CLI_JSON_H_
#define QUADRILLE_CLI_JSON_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quadrille::cli {

// Returns a string in quotes. It is safe in a script of an HTML page. Bytes that are not UTF-8 become U+FFFD.
std::string json_text(std::string_view text);
std::string json_texts(const std::vector<std::string>& texts);

std::string json_list(const std::vector<std::string>& values);
// Returns the list with a line for each value.
std::string json_lines(const std::vector<std::string>& values);

// An object. Its members keep their order. Absent numbers become null.
class JsonObject {
 public:
  JsonObject& text(std::string_view name, std::string_view value);
  JsonObject& number(std::string_view name, std::optional<int64_t> value);
  JsonObject& decimal(std::string_view name, double value);  // with three decimals
  JsonObject& truth(std::string_view name, bool value);
  JsonObject& null(std::string_view name) { return value(name, "null"); }
  JsonObject& value(std::string_view name, std::string_view json);

  std::string str() const { return "{" + members_ + "}"; }

 private:
  std::string members_;
};

}  // namespace quadrille::cli

#endif  // QUADRILLE_CLI_JSON_H_
