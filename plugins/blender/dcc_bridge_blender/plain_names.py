"""The plain part of Blender's interface: it reads and edits the scene, within undo.

Left out is all that takes a path or reads or writes a file, runs text (drivers, texts, scripts,
operators that run some), is called later (handlers, timers), or changes the application. Left out
as well are the pixels of images and the 3D cursor, which undo does not bring back, and what goes to
another frame or evaluates the scene: caches and nodes read and write files then. Any thread.
"""

from __future__ import annotations

from typing import Final

from dcc_bridge.spi import LiteralArgument, PlainNames

_OPERATORS: Final = """
    anim.keyframe_delete anim.keyframe_insert anim.keyframe_insert_by_name
    armature.bone_primitive_add armature.extrude_move armature.select_all armature.subdivide
    collection.create curve.cyclic_toggle curve.handle_type_set curve.primitive_bezier_circle_add
    curve.primitive_bezier_curve_add curve.primitive_nurbs_circle_add
    curve.primitive_nurbs_curve_add curve.primitive_nurbs_path_add curve.select_all
    curve.spline_type_set curve.subdivide material.new mesh.bevel mesh.bisect mesh.bridge_edge_loops
    mesh.delete mesh.delete_loose mesh.dissolve_faces mesh.dissolve_limited mesh.duplicate_move
    mesh.edge_face_add mesh.edge_split mesh.extrude_faces_move mesh.extrude_region_move
    mesh.faces_shade_flat mesh.faces_shade_smooth mesh.fill mesh.fill_holes mesh.flip_normals
    mesh.inset mesh.loopcut mesh.mark_seam mesh.mark_sharp mesh.merge mesh.normals_make_consistent
    mesh.poke mesh.primitive_circle_add mesh.primitive_cone_add mesh.primitive_cube_add
    mesh.primitive_cylinder_add mesh.primitive_grid_add mesh.primitive_ico_sphere_add
    mesh.primitive_monkey_add mesh.primitive_plane_add mesh.primitive_torus_add
    mesh.primitive_uv_sphere_add mesh.quads_convert_to_tris mesh.region_to_loop mesh.remove_doubles
    mesh.screw mesh.select_all mesh.select_less mesh.select_linked mesh.select_mode mesh.select_more
    mesh.select_non_manifold mesh.select_random mesh.separate mesh.solidify mesh.spin mesh.subdivide
    mesh.symmetrize mesh.tris_convert_to_quads mesh.unsubdivide mesh.wireframe object.add
    object.armature_add object.camera_add object.collection_link object.constraint_add
    object.convert object.delete object.duplicate object.duplicate_move object.duplicate_move_linked
    object.duplicates_make_real object.editmode_toggle object.empty_add object.gpencil_add
    object.hide_view_clear object.hide_view_set object.join object.light_add object.lightprobe_add
    object.location_clear object.make_links_data object.make_single_user object.material_slot_add
    object.material_slot_assign object.material_slot_remove object.metaball_add object.mode_set
    object.modifier_add object.modifier_apply object.modifier_move_down object.modifier_move_up
    object.modifier_remove object.move_to_collection object.origin_clear object.origin_set
    object.parent_clear object.parent_set object.posemode_toggle object.randomize_transform
    object.rotation_clear object.scale_clear object.select_all object.select_by_type
    object.select_grouped object.select_hierarchy object.select_linked object.select_random
    object.shade_auto_smooth object.shade_flat object.shade_smooth object.shade_smooth_by_angle
    object.shape_key_add object.speaker_add object.subdivision_set object.text_add
    object.track_clear object.track_set object.transform_apply object.vertex_group_add
    object.vertex_group_assign object.vertex_group_normalize_all object.vertex_group_smooth
    object.visual_transform_apply pose.armature_apply pose.loc_clear pose.rot_clear pose.scale_clear
    pose.select_all pose.transforms_clear surface.primitive_nurbs_surface_circle_add
    surface.primitive_nurbs_surface_sphere_add transform.mirror transform.resize transform.rotate
    transform.shrink_fatten transform.skin_resize transform.translate transform.vertex_random
    uv.average_islands_scale uv.cube_project uv.cylinder_project uv.pack_islands uv.reset
    uv.select_all uv.smart_project uv.sphere_project uv.unwrap
"""
_MODULES: Final = """
    bmesh bpy bpy.types mathutils mathutils.bvhtree mathutils.geometry mathutils.kdtree
    mathutils.noise
"""
_CONTEXT: Final = """
    active_object active_pose_bone collection edit_object mode object object.mode objects_in_mode
    scene selectable_objects selected_editable_objects selected_objects selected_pose_bones
    view_layer visible_objects
"""
_LIBRARY: Final = """
    bmesh.from_edit_mesh bmesh.new bmesh.ops.* bmesh.update_edit_mesh bpy.app.version
    bpy.app.version_string bpy.data mathutils.Color mathutils.Euler mathutils.Matrix
    mathutils.Quaternion mathutils.Vector mathutils.bvhtree.BVHTree mathutils.geometry.*
    mathutils.kdtree.KDTree mathutils.noise.cell mathutils.noise.fractal mathutils.noise.noise
    mathutils.noise.noise_vector mathutils.noise.random mathutils.noise.random_unit_vector
    mathutils.noise.turbulence mathutils.noise.voronoi
"""
# Of data that a script may set: no name of a file, no text that is run, nothing of the application.
_ASSIGNED: Final = """
    active active_index active_material active_material_index active_shape_key_index align_x align_y
    alpha angle angle_limit array_index auto_smooth_angle auto_texspace axis b bevel_depth
    bevel_factor_end bevel_factor_start bevel_mode bevel_object bevel_resolution bevel_weight
    blend_method blend_type body bone_group camera center chain_count clamp_factor clip_end
    clip_start co collision_shape color color_mode color_tag constant_offset_displace count crease
    curvature_max curve curve_type cutoff_distance cycles_after cycles_before data data_type
    decimate_type default_attribute_name default_value deform_method depth diffuse_color
    diffuse_factor dimensions direction display_size display_type domain double_threshold easing
    edge_crease empty_display_size empty_display_type end energy engine euler_order exclude exposure
    extend extension extrapolation extrude face_strength_mode factor falloff falloff_type
    film_transparent fit_method fit_type focal_length focus_distance focus_object forward_axis fps
    fps_base frame_end frame_preview_end frame_preview_start frame_start frame_step friction g gamma
    gravity handle_left handle_left_type handle_right handle_right_type head height hide hide_render
    hide_select hide_viewport influence influence_location input_type instance_collection
    instance_type interpolation interpolation_type inverse_matrix invert invert_vertex_group
    is_active_output iterations layer_collection lens lens_unit levels limit_method location
    lock_camera lock_location lock_rotation lock_scale look loops mass material material_index
    matrix matrix_basis matrix_local matrix_offset matrix_parent_inverse matrix_world max max_x
    max_y max_z merge_threshold metallic method mid_level min min_x min_y min_z mirror_object
    mirror_offset_u miter_inner miter_outer mode mute name narrowness noise_scale noise_strength
    normal object offset offset_factor offset_object offset_type offset_u operand_type operation
    order_u order_v ortho_scale owner_space parent parent_bone parent_type pass_index pivot_u
    play_mode point_count_u pole_angle pole_target position profile quality r radius ratio
    relative_key relative_offset_displace render_levels resolution resolution_percentage
    resolution_u resolution_v resolution_x resolution_y rest_length restitution roll rotation
    rotation_axis_angle rotation_euler rotation_mode rotation_quaternion roughness samples scale
    scale_x scale_y screw_offset seam segments select select_control_point select_left_handle
    select_right_handle sensor_fit sensor_height sensor_width shade_smooth shadow_soft_size shape
    shift_x shift_y show_axis show_in_front show_name show_only_shape_key show_wire
    simplify_subdivision size size_y size_z slider_max slider_min slope smooth smooth_type
    smoothness solver source_object space space_character space_line space_object space_word
    specular_factor spot_blend spot_size start steps strength subsurf_levels subtarget subtype
    surface_type tail taper_object target target_rotation target_space text_boxes thickness
    thickness_clamp thickness_vertex_group threshold tilt time_offset track_axis transform_space
    twist_mode type unit up_axis use_apply_on_spline use_auto_smooth use_auto_texspace use_axis
    use_bisect_axis use_bisect_flip_axis use_clamp use_clamp_overlap use_clip use_color_ramp
    use_connect use_constant_offset use_curve_follow use_custom_color use_cyclic use_cyclic_u
    use_cyclic_v use_deform use_dof use_endpoint_u use_even_offset use_fill_caps use_fixed_location
    use_freestyle use_inherit_rotation use_limit_x use_limit_y use_limit_z use_location_x
    use_location_y use_location_z use_max_x use_max_y use_max_z use_merge_vertices
    use_merge_vertices_cap use_min_x use_min_y use_min_z use_mirror_merge use_mirror_u use_mirror_v
    use_motion_blur use_negative use_nodes use_object_offset use_offset use_preview_range
    use_relative use_relative_offset use_rim use_rim_only use_scale_x use_scale_y use_scale_z
    use_seam use_shadow use_simplify use_smooth use_smooth_shade use_stretch_u use_tail
    use_transform_limit use_x use_y use_z uv_layer value values vertex_group view_settings
    view_transform visible_camera visible_diffuse visible_glossy visible_shadow visible_transmission
    volume_factor w weight width width_pct wrap_method wrap_mode x y z
"""
# What a script may read and call besides.
_READ: Final = """
    Diagonal Fill FromBMesh FromPolygons Identity Linspace LocRotScale OrthoProjection Range Repeat
    Rotation Scale Shear Translation action action_slot actions active_color active_material add
    all_objects angle_signed animation_data animation_data_clear animation_data_create append area
    armatures attributes balance bitangent bl_idname bl_label bones bound_box calc_area
    calc_center_median calc_face_angle calc_length calc_loop_triangles calc_normals calc_tangents
    calc_volume cameras channelbag channelbags children children_recursive clear
    closest_point_on_mesh co co_ui collection collections color_attributes color_ramp constraints
    convert_space copy cross curve_frame_range curves cycles data determinant display display_type
    dof dot edge edge_creases edge_index edge_keys edges edit_bones eevee elements
    ensure_lookup_table evaluate extrapolation face face_maps faces fcurves find find_n find_nearest
    find_range foreach_get foreach_set frame_end frame_range frame_start free free_tangents freeze
    from_mesh from_node from_pydata from_socket grease_pencils groups handle hide_get hide_set
    hide_viewport hsv id_data identifier identity in_out index index_update inputs insert interface
    invert_safe inverted inverted_safe is_active is_boundary is_convex is_editmode is_evaluated
    is_linked is_manifold is_muted is_negative is_valid is_wire items_tree key_blocks
    keyframe_delete keyframe_insert keyframe_points layer_collection layers length length_squared
    length_unit lerp lights link link_edges link_faces link_loop_next link_loop_radial_next
    link_loops links loop_start loop_total loop_triangles loops map_to markers masks material_slots
    materials meshes metaballs mode modifiers move name_full negate new new_panel new_socket
    nla_tracks node_groups node_tree nodes normal_update normalize normalized object objects
    original orthogonal other_vert outputs overlap parent_index particle_systems points poll
    polygons pose ray_cast reference reflect remove render resize_2d resize_3d resize_4d rigid_body
    rotate rotate_axis rotation_difference scale_length scene scenes select_flush select_get
    select_history select_set selected shape_key_add shape_key_clear shape_key_remove shape_keys
    slerp slot slots sort splines split strips tangent targets texspace_location text_boxes
    texture_mesh to_2d to_3d to_4d to_axis_angle to_curve to_euler to_matrix to_mesh to_mesh_clear
    to_node to_quaternion to_scale to_socket to_swing_twist to_track_quat to_translation to_tuple
    transform translate transpose transposed unit unit_settings unlink update update_from_editmode
    update_tag users users_collection users_scene uv uv_layers validate vector vert vertex_colors
    vertex_groups vertex_index vertices verts view_layer view_layers view_settings visible_get world
    worlds xy xyz xz yz zero angle invert frame_current
"""
# Nodes that read no file and run no text; in capitals, the kinds of modifiers and constraints.
_KINDS: Final = (
    r"(?!ShaderNodeScript$|ShaderNodeTexIES$)ShaderNode\w+"
    r"|(?!GeometryNode(Import|Bake|Simulation|Tool|Group$))GeometryNode\w+"
    r"|FunctionNode\w+|NodeGroup(Input|Output)|NodeReroute|NodeFrame|NodeSocket\w+"
    r"|[A-Z][A-Z0-9_]*"
)
_COLLECTIONS: Final = """
    actions armatures attributes cameras collections color_attributes curves edges edit_bones faces
    fcurves lights links materials meshes metaballs modifiers node_groups objects scenes uv_layers
    vertex_colors vertex_groups verts view_layers worlds
"""
_CLOSES: Final = """
    open_mainfile quit_blender read_factory_settings read_homefile recover_auto_save
    recover_last_session redo revert_mainfile undo undo_history undo_memory_limit undo_push
    undo_redo undo_steps use_global_undo window_close
"""

PLAIN: Final = PlainNames(
    given={"bpy": "bpy"},
    modules=frozenset(_MODULES.split()),
    paths=frozenset(
        [
            *(f"bpy.ops.{name}" for name in _OPERATORS.split()),
            *(f"bpy.context.{name}" for name in _CONTEXT.split()),
            *_LIBRARY.split(),
        ]
    ),
    types=frozenset({"bpy.types.*", "bmesh.types.*"}),
    names=frozenset(_READ.split()),
    assigned=frozenset(_ASSIGNED.split()),
    only_assigned=frozenset({"scale"}),  # of an image it is a function that drops its pixels
    numbers=frozenset({"default_value"}),  # some nodes read the file that a text names
    computes=frozenset({"mathutils.*"}),
    literals={
        # By position an operator takes the way it is run, as a dialog would wait for the person;
        # and whether it makes an undo step of its own, of which many push the others out.
        "bpy.ops.*.*": (LiteralArgument("EXEC_DEFAULT", most=1),),
        "new": (
            LiteralArgument(_KINDS, 0, ("type",), frozenset(_COLLECTIONS.split()), or_number=True),
        ),
    },
    # Each step multiplies the faces of a mesh.
    closes_scene=frozenset(_CLOSES.split()),
)
