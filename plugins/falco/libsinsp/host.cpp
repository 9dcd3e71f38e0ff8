// A host for castellan's plugin on Falco's own core, libsinsp: it loads the plugin, compiles the conditions of the rules that
// castellan exports, tests them on each event in their order, and posts alerts as `http_output` does. Falco's reader of rule files
// is not part of libsinsp. So this shows how Falco extracts fields, tests conditions and formats outputs, and nothing about how it
// reads files. Falco 0.43 has libsinsp 0.23.
//
//   falco -c FALCO_YAML          judges until it is killed
//   falco -c FALCO_YAML -V RULES compiles the rules
//   falco --version              prints the versions in Falco's form
//
// docs/falco.md has the commands that build it. As `falco` in a folder of PATH, `cargo xtask test falco` and
// `cargo xtask bench falco` take it.

#include <curl/curl.h>
#include <libsinsp/filter.h>
#include <libsinsp/filter_cache.h>
#include <libsinsp/filter_check_list.h>
#include <libsinsp/plugin.h>
#include <libsinsp/sinsp.h>
#include <nlohmann/json.hpp>
#include <yaml-cpp/yaml.h>

#include <cstdio>
#include <iostream>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

using nlohmann::json;

// Falco reads a scalar of a plugin's settings as a number or a truth value where it can, in quotes, too.
static json settings(const YAML::Node& node) {
	if(node.IsMap()) {
		json map = json::object();
		for(const auto& entry : node) {
			map[entry.first.as<std::string>()] = settings(entry.second);
		}
		return map;
	}
	if(node.IsSequence()) {
		json list = json::array();
		for(const auto& element : node) {
			list.push_back(settings(element));
		}
		return list;
	}
	int number = 0;
	double fraction = 0;
	bool truth = false;
	if(YAML::convert<int>::decode(node, number)) {
		return number;
	}
	if(YAML::convert<double>::decode(node, fraction)) {
		return fraction;
	}
	if(YAML::convert<bool>::decode(node, truth)) {
		return truth;
	}
	return node.as<std::string>("");
}

// Falco's `http_output`: one alert after the other, on a connection that stays open.
class poster {
public:
	explicit poster(const YAML::Node& output): m_curl(curl_easy_init()) {
		m_headers = curl_slist_append(nullptr, "Content-Type: application/json");
		const auto url = output["url"].as<std::string>();
		const auto agent = output["user_agent"].as<std::string>();
		curl_easy_setopt(m_curl, CURLOPT_HTTPHEADER, m_headers);
		curl_easy_setopt(m_curl, CURLOPT_URL, url.c_str());
		curl_easy_setopt(m_curl, CURLOPT_USERAGENT, agent.c_str());
		curl_easy_setopt(m_curl, CURLOPT_NOPROXY, "*");
	}
	~poster() {
		curl_slist_free_all(m_headers);
		curl_easy_cleanup(m_curl);
	}
	poster(const poster&) = delete;
	poster& operator=(const poster&) = delete;

	void post(const std::string& alert) {
		curl_easy_setopt(m_curl, CURLOPT_POSTFIELDSIZE, static_cast<long>(alert.size()));
		curl_easy_setopt(m_curl, CURLOPT_POSTFIELDS, alert.c_str());
		const auto code = curl_easy_perform(m_curl);
		if(code != CURLE_OK) {
			std::cerr << "libcurl: " << curl_easy_strerror(code) << std::endl;
		}
	}

private:
	CURL* m_curl;
	curl_slist* m_headers;
};

struct rule {
	std::string name;
	std::unique_ptr<sinsp_filter> filter;
	std::unique_ptr<sinsp_evt_formatter> output;
};

struct core {
	sinsp inspector;
	std::shared_ptr<sinsp_plugin> plugin;
	sinsp_filter_check_list checks;
	std::vector<rule> rules;

	explicit core(const YAML::Node& config) {
		const auto& of_plugin = config["plugins"][0];
		plugin = inspector.register_plugin(of_plugin["library_path"].as<std::string>());
		std::string error;
		if(!plugin->init(settings(of_plugin["init_config"]).dump(), error)) {
			throw std::runtime_error(error);
		}
		checks.add_filter_check(sinsp::new_generic_filtercheck());
		checks.add_filter_check(sinsp_plugin::new_filtercheck(plugin));
	}

	// Compiles the enabled rules of a file that castellan has written. Falco's rules share one cache of extractions and comparisons.
	void load(const std::string& file) {
		const auto factory = std::make_shared<sinsp_filter_factory>(&inspector, checks);
		const auto cache = std::make_shared<exprstr_sinsp_filter_cache_factory>();
		for(const auto& node : YAML::LoadFile(file)) {
			if(!node["rule"] || !node["enabled"].as<bool>(true)) {
				continue;
			}
			const auto name = node["rule"].as<std::string>();
			try {
				sinsp_filter_compiler compiler(factory, node["condition"].as<std::string>(), cache);
				auto format = "*" + node["output"].as<std::string>() + " %row.nonce";
				rules.push_back({name,
				                 compiler.compile(),
				                 std::make_unique<sinsp_evt_formatter>(&inspector, format, checks)});
			} catch(const std::exception& e) {
				throw std::runtime_error(name + ": " + e.what());
			}
		}
	}

	void judge(sinsp_evt* event, poster& alerts) {
		for(auto& rule : rules) {
			if(!rule.filter->run(event)) {
				continue;
			}
			std::string text;
			std::map<std::string, std::string> fields;
			rule.output->tostring(event, text);
			rule.output->resolve_tokens(event, fields);
			const json alert = {{"rule", rule.name}, {"output", text}, {"output_fields", fields}, {"source", "coding_agent"}};
			alerts.post(alert.dump(-1, ' ', false, json::error_handler_t::replace));
		}
	}
};

static int serve(const YAML::Node& config) {
	core core(config);
	core.load(config["rules_files"][0].as<std::string>());
	poster alerts(config["http_output"]);
	core.inspector.open_plugin("coding_agent", "", sinsp_plugin_platform::SINSP_PLATFORM_HOSTINFO);
	std::cerr << core.rules.size() << " rules in libsinsp" << std::endl;
	for(;;) {
		sinsp_evt* event = nullptr;
		const auto code = core.inspector.next(&event);
		if(code == SCAP_TIMEOUT || code == SCAP_FILTERED_EVENT) {
			continue;
		}
		if(code != SCAP_SUCCESS) {
			throw std::runtime_error(core.inspector.getlasterr());
		}
		core.judge(event, alerts);
	}
}

static int validate(const YAML::Node& config, const std::string& file) {
	json errors = json::array();
	try {
		core core(config);
		core.load(file);
	} catch(const std::exception& e) {
		errors.push_back({{"code", ""}, {"message", e.what()}});
	}
	const bool is_good = errors.empty();
	const json result = {{"name", file}, {"successful", is_good}, {"errors", errors}};
	std::cout << json({{"falco_load_results", json::array({result})}}).dump() << std::endl;
	return is_good ? 0 : 1;
}

int main(int argc, char** argv) {
	const std::vector<std::string> words(argv + 1, argv + argc);
	try {
		if(words.size() == 1 && words[0] == "--version") {
			std::cout << "Falco version: 0.43.0 (castellan's host of libsinsp)\nPlugin API:    " << PLUGIN_API_VERSION_STR << "\nEngine:        0.58.0\n";
			return 0;
		}
		if(words.size() == 2 && words[0] == "-c") {
			return serve(YAML::LoadFile(words[1]));
		}
		if(words.size() == 4 && words[0] == "-c" && words[2] == "-V") {
			return validate(YAML::LoadFile(words[1]), words[3]);
		}
		throw std::runtime_error("usage: host -c FALCO_YAML [-V RULES]");
	} catch(const std::exception& e) {
		std::cerr << "Error: " << e.what() << std::endl;
		return 1;
	}
}
